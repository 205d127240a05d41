"""One rater at work on a run: what is shown next, what was said, and each word on disk at once.

May not show anything of a judge, a stratum or another rater, and may not draw a widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenteval_kit.errors import AgentEvalError, ConfigError
from agenteval_kit.label.book import Book, Scales
from agenteval_kit.label.given import Said
from agenteval_kit.label.messages import parse_message
from agenteval_kit.label.opening import check_sample, choose_dimensions, hash_order
from agenteval_kit.label.shelf import Key, Shelf
from agenteval_kit.label.shown import ShownTranscript, show_dimension
from agenteval_kit.labels import rater_name, write_sample
from agenteval_kit.records import Dimension, Rubric, Transcript
from agenteval_kit.records.labels import Sample
from agenteval_kit.runs import Run, now_text
from agenteval_kit.text import counted
from agenteval_kit.visible import show_hidden

__all__ = ["Session"]

WORDS = 10_000


class Session:
    """A rater reads transcripts one at a time, in an order of their own, and says what is in them.

    Every verb writes its line to the rater's file, and to the disk, before anything moves. A new
    session on the same files stands where the old one was left.

    Parameters
    ----------
    run : Run
        What is read.
    rubric : Rubric or None
        None reads failures first: notes, failures and marks only, no scale.
    folder : path
        Of the labels; each rater has a file in it.
    rater : str
        Who reads.
    sample : Sample, optional
        Which transcripts; without one all of them, for tuning. It is kept beside the labels.
    dimensions : sequence of str, optional
        Only these of the rubric, in this order.
    expected : mapping of str to str, optional
        The expected outcome of each case, where judges see it too.
    now : callable
        Gives the time of a line.

    Raises
    ------
    ConfigError
        For an unknown dimension, a rubric without a scale, a sample of another run, transcripts
        that are missing or were changed, and a file that another process holds.
    """

    def __init__(
        self,
        run: Run,
        rubric: Rubric | None,
        folder: str | Path,
        rater: str,
        *,
        sample: Sample | None = None,
        dimensions: Sequence[str] | None = None,
        expected: Mapping[str, str] | None = None,
        now: Callable[[], str] = now_text,
    ) -> None:
        self.run, self.rater, self.sample = run, rater_name(rater), sample
        self._rubric, self._expected = rubric, dict(expected or {})
        scales = Scales.of(rubric, choose_dimensions(rubric, dimensions))
        self._scales = scales.by_name
        self._shelf = Shelf(run)
        keys, told = check_sample(run, self._shelf, sample)
        name = sample.name if sample else ""
        self._order = tuple(hash_order(keys, seed=f"{self.rater}\0{name}"))
        if sample is not None:
            write_sample(Path(folder), sample)
        self._book = Book(
            Path(folder),
            self.rater,
            run=run,
            shelf=self._shelf,
            keys=self._order,
            scales=scales,
            sample=sample,
            now=now,
        )
        told += [
            f'{counted(count, "label")} on "{one}" given under other words of the rubric: asked '
            "for again."
            for one, count in self._book.outdated.items()
        ]
        told += [self._book.warning] if self._book.warning else []
        self._history: list[tuple[int, str]] = []
        self._shown: tuple[int, ShownTranscript] | None = None
        self.position, self.dimension = 0, ""
        self.message = " ".join(told)
        self.error = ""
        self._stand(self._book.next_open(after=-1) or 0)

    # What there is.

    @property
    def total(self) -> int:
        """How many transcripts there are to read."""
        return len(self._order)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that are asked for; none where failures are read first."""
        return tuple(self._scales)

    @property
    def item(self) -> Key:
        """Case and repeat of the transcript that is open."""
        return self._order[self.position]

    @property
    def finished(self) -> bool:
        """Whether everything was said of every transcript; what was skipped is not finished."""
        return self.progress["done"] == self.total

    @property
    def progress(self) -> dict[str, int]:
        """Transcripts done and skipped, of how many; and labels given."""
        return self._book.progress

    def view(self) -> dict[str, Any]:
        """Everything that a front may show, as plain JSON; nothing of a judge or another rater."""
        said = self._said()
        case_id, repeat = self.item
        error = self.error
        try:
            content = self._transcript().content
        except ConfigError as gone:
            # A case withdrawn meanwhile: a screen that stays still would say nothing.
            content, error = ShownTranscript.of(Transcript(case_id=case_id)).content, str(gone)
        return {
            "rater": self.rater,
            "run": self.run.id,
            "sample": self.sample.name if self.sample else "",
            "purpose": self.sample.purpose if self.sample else "tuning",
            "position": self.position,
            "total": self.total,
            "finished": self.finished,
            "item": {"case_id": show_hidden(case_id), "repeat": repeat},
            "expected": show_hidden(self._expected.get(case_id, "")),
            **content,
            "dimension": self.dimension,
            "dimensions": [
                {**show_dimension(one), **said.own(name)} for name, one in self._scales.items()
            ],
            "note": said.word("")[0],
            "mark": said.word(self.dimension)[1],
            "failures": [{"text": text, "turn": turn} for text, turn in said.failures],
            "read": said.read,
            "skipped": said.skipped,
            "progress": self.progress,
            "saved_at": self._book.last.at if self._book.last else "",
            "message": self.message,
            "error": error,
        }

    def whole(self, place: str) -> str:
        """A text of the open transcript that `view` cut, whole; `place` as ``cut`` names it."""
        return self._transcript().text(place)

    # What can be said: written first, moved after.

    def label(self, score: int | None) -> None:
        """Give the active dimension a level (None: cannot tell), then go on to what is open.

        The same level with the same note and mark writes no second line.
        """
        scale = self._scale()
        if score is not None and (type(score) is not int or score not in scale.levels):
            raise ConfigError(
                f'"{scale.name}" has no level {score!r}; its levels are '
                f"{', '.join(map(str, scale.levels))}, and nothing (null) says cannot tell"
            )
        said = self._fresh()
        note, turn = said.word(scale.name)
        old = said.labels.get(scale.name)
        if old is None or (old.score, old.note, old.turn) != (score, note, turn):
            self._book.add(
                "label", self.item, dimension=scale.name, score=score, note=note, turn=turn
            )
        left = self._unlabelled(after=scale.name)
        if left:
            self._move(self.position, left)
        else:
            self.open_next()

    def note(self, text: str) -> None:
        """Put words beside the active dimension, or the transcript; "" takes them away."""
        self._put_words(text=_words(text, "note"))

    def mark(self, turn: int | None) -> None:
        """Point at a turn for the active dimension; None takes the mark away."""
        if turn is not None:
            self._require_turn(turn)
        self._put_words(turn=(turn,))

    def failure(self, text: str, *, turn: int | None = None) -> None:
        """Say in your own words what went wrong, at a turn (the marked one if none is named)."""
        words = _words(text, "failure")
        if not words:
            raise ConfigError("a failure says in words what went wrong; nothing was written")
        if turn is not None:
            self._require_turn(turn)
        said = self._fresh()
        at = turn if turn is not None else said.word(self.dimension)[1]
        if (words, at) not in said.failures:
            self._book.add("failure", self.item, failure=words, turn=at)

    def skip(self) -> None:
        """Pass the transcript over for now; it comes again when the others are done."""
        said = self._fresh()
        if not (said.skipped or self._book.is_done(said)):
            self._book.add("skip", self.item)
        self.open_next()

    def undo(self) -> None:
        """Take back the line before this one, and stand where it was given."""
        self._fresh()
        last = self._book.last
        if last is None:
            raise ConfigError("there is nothing to undo")
        key = (last.case_id, last.repeat)
        if not self._book.here(last):
            what = "a review" if last.kind == "review" else f'sample "{last.sample or "none"}"'
            raise ConfigError(
                f'your line before this one is not of this session (case "{last.case_id}" of '
                f'"{last.run}", {what}); undo it there'
            )
        self._book.add("undo", key, dimension=last.dimension)
        self._stand(self._order.index(key), last.dimension)

    # Where one stands.

    def next(self) -> None:
        """Go to the transcript after this one; where failures are read first, this one is read."""
        if not self._scales and not self._fresh().read:
            self._book.add("read", self.item)
        if self.position + 1 < self.total:
            self._move(self.position + 1)
        else:
            self.message = "this is the last transcript"

    def back(self) -> None:
        """Open again what was left last, as it was left."""
        if self._history:
            self._stand(*self._history.pop())
        elif self.position:
            self._stand(self.position - 1)
        else:
            self.message = "this is the first transcript"

    def go(self, position: int) -> None:
        """Open the transcript at a position, from 0."""
        if type(position) is not int or not 0 <= position < self.total:
            raise ConfigError(
                f"there is no position {position!r}; it goes from 0 to {self.total - 1}"
            )
        self._move(position)

    def choose(self, dimension: str) -> None:
        """Make a dimension the active one."""
        if not isinstance(dimension, str):
            raise ConfigError(f"a dimension is named by a text, but {dimension!r} is no text")
        if dimension not in self._scales:
            choose_dimensions(self._rubric, [dimension])
            raise ConfigError(f'"{dimension}" is not asked for in this session')
        self.dimension = dimension

    def open_next(self) -> None:
        """Go to the next transcript that is not finished; skipped ones come last."""
        found = self._book.next_open(after=self.position)
        if found is None:
            self.message = "everything is labelled" if self._scales else "everything is read"
        elif found != self.position:
            self._move(found)

    def handle(self, message: object) -> dict[str, Any]:
        """Do what a front asks for, ``{"op": "label", "score": 3}``; never raise through a widget.

        With ``"seen": position`` the message is refused where another transcript has come up since
        the reader last looked, so that a key pressed twice labels nothing unread.

        Returns
        -------
        dict
            ``ok``, ``error`` in words; for "whole" also ``text``.
        """
        self.message = self.error = ""
        try:
            name, given = parse_message(message)
            seen = given.pop("seen", self.position)
            if seen != self.position:
                raise ConfigError("another transcript has come up meanwhile; nothing was saved")
            came = getattr(self, name)(**given)
        except (AgentEvalError, OSError) as error:
            self.error = str(error)
            return {"ok": False, "error": self.error}
        return {"ok": True, "error": "", **({"text": came} if name == "whole" else {})}

    def leave(self) -> None:
        """The page is left: another may be opened as this rater, though the kernel lives on."""
        self._book.release()

    def close(self) -> None:
        """Let go of the rater's file."""
        self._book.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing.

    def _fresh(self) -> Said:
        """What was said of the open transcript, lines of another cell included."""
        self._book.refresh()
        return self._said()

    def _put_words(self, *, text: str | None = None, turn: tuple[int | None] | None = None) -> None:
        said = self._fresh()
        name = self.dimension
        old = said.word(name)
        new = (old[0] if text is None else text, old[1] if turn is None else turn[0])
        if new == old:
            return
        # A label carries its words, so that whoever reads labels need not look for notes.
        label = said.labels.get(name)
        self._book.add(
            "note" if label is None else "label",
            self.item,
            dimension=name,
            score=None if label is None else label.score,
            note=new[0],
            turn=new[1],
        )

    # Moving.

    def _move(self, position: int, dimension: str | None = None) -> None:
        self._history.append((self.position, self.dimension))
        self._stand(position, dimension)

    def _stand(self, position: int, dimension: str | None = None) -> None:
        self.position = position
        self.dimension = dimension or self._unlabelled() or next(iter(self._scales), "")

    def _unlabelled(self, *, after: str | None = None) -> str:
        """The next dimension of this transcript without a label, or ""."""
        names = list(self._scales)
        start = names.index(after) + 1 if after is not None else 0
        said = self._said()
        return next((one for one in names[start:] + names[:start] if one not in said.labels), "")

    def _said(self) -> Said:
        return self._book.said(self.item)

    def _transcript(self) -> ShownTranscript:
        if self._shown is None or self._shown[0] != self.position:
            system = any("system" in one.inputs for one in self._scales.values())
            made = ShownTranscript.of(self._shelf.fetch(self.item), system=system)
            self._shown = (self.position, made)
        return self._shown[1]

    def _scale(self) -> Dimension:
        if not self._scales:
            raise ConfigError("there is no rubric here; write what went wrong in place of a level")
        return self._scales[self.dimension]

    def _require_turn(self, turn: int) -> None:
        count = len(self._shelf.fetch(self.item).turns)
        if type(turn) is not int or not 0 <= turn < count:
            raise ConfigError(f"there is no turn {turn!r}; turns go from 0 to {count - 1}")


def _words(text: object, what: str) -> str:
    if not isinstance(text, str) or len(text) > WORDS:
        raise ConfigError(f"a {what} is a text of up to {WORDS:,} characters")
    return show_hidden(text).strip()
