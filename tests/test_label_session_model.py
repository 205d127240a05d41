"""A session against a plain dict: whatever keys are pressed, both say the same."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from label_runs import open_session, talk_run

from agenteval_kit.labels import read_labels

TOTAL = 4
LEVELS = {"tone": (1, 2, 3, 4), "facts": (0, 1)}
NAMES = tuple(LEVELS)

State = dict[str, Any]


def empty() -> dict[int, State]:
    """Nothing was said of any transcript."""
    return {
        at: {"labels": {}, "words": {}, "failures": [], "skipped": False} for at in range(TOTAL)
    }


class Keys(RuleBasedStateMachine):
    """The model replays a log of what was said; the session reads its file."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.run_ = talk_run(self.folder, TOTAL)
        self.session = open_session(self.run_, self.folder / "labels", dimensions=None)
        self.log: list[tuple[int, str, Any]] = []
        self.position, self.dimension = 0, "tone"
        self.history: list[tuple[int, str]] = []

    def teardown(self) -> None:
        self.session.close()
        shutil.rmtree(self.folder)

    # The model.

    def states(self) -> dict[int, State]:
        """What counts, from the log alone."""
        found = empty()
        for at, kind, what in self.log:
            state = found[at]
            if kind == "skip":
                state["skipped"] = True
            elif kind == "failure":
                state["failures"].append(what)
            else:
                name, score, note, turn = what
                state["words"][name] = (note, turn)
                if kind == "label":
                    state["labels"][name] = score
                    state["skipped"] = False
        return found

    def here(self) -> State:
        return self.states()[self.position]

    def stand(self, position: int, dimension: str = "") -> None:
        self.position = position
        open_ = [one for one in NAMES if one not in self.here()["labels"]]
        self.dimension = dimension or (open_ or ["tone"])[0]

    def move(self, position: int, dimension: str = "") -> None:
        self.history.append((self.position, self.dimension))
        self.stand(position, dimension)

    def open_next(self) -> None:
        states = self.states()
        order = [(self.position + 1 + step) % TOTAL for step in range(TOTAL)]
        left = [at for at in order if len(states[at]["labels"]) < 2]
        fresh = [at for at in left if not states[at]["skipped"]]
        found = (fresh or left or [self.position])[0]
        if found != self.position:
            self.move(found)

    def words(self, note: str | None, turn: tuple[int | None] | None) -> None:
        state, name = self.here(), self.dimension
        old = state["words"].get(name, ("", None))
        new = (old[0] if note is None else note, old[1] if turn is None else turn[0])
        if new != old:
            kind = "label" if name in state["labels"] else "note"
            self.log.append((self.position, kind, (name, state["labels"].get(name), *new)))

    # The keys.

    @rule(score=st.sampled_from([None, 0, 1, 4]))
    def label(self, score: int | None) -> None:
        came = self.session.handle({"op": "label", "score": score})
        allowed = score is None or score in LEVELS[self.dimension]
        assert came["ok"] == allowed
        if not allowed:
            return
        state, name = self.here(), self.dimension
        words = state["words"].get(name, ("", None))
        before = (state["labels"].get(name, "none"), *words)
        if before != (score, *words):
            self.log.append((self.position, "label", (name, score, *words)))
        other = NAMES[1 - NAMES.index(name)]
        if other not in self.here()["labels"]:
            self.move(self.position, other)
        else:
            self.open_next()

    @rule(text=st.sampled_from(["", "short", "long"]))
    def note(self, text: str) -> None:
        assert self.session.handle({"op": "note", "text": text})["ok"]
        self.words(text, None)

    @rule(turn=st.sampled_from([None, 0, 3]))
    def mark(self, turn: int | None) -> None:
        assert self.session.handle({"op": "mark", "turn": turn})["ok"]
        self.words(None, (turn,))

    @rule(text=st.sampled_from(["lies", "stalls"]))
    def failure(self, text: str) -> None:
        assert self.session.handle({"op": "failure", "text": text})["ok"]
        said = (text, self.here()["words"].get(self.dimension, ("", None))[1])
        if said not in self.here()["failures"]:
            self.log.append((self.position, "failure", said))

    @rule()
    def skip(self) -> None:
        assert self.session.handle({"op": "skip"})["ok"]
        if not self.here()["skipped"] and len(self.here()["labels"]) < 2:
            self.log.append((self.position, "skip", None))
        self.open_next()

    @rule()
    def undo(self) -> None:
        came = self.session.handle({"op": "undo"})
        assert came["ok"] == bool(self.log)
        if self.log:
            at, kind, what = self.log.pop()
            self.stand(at, what[0] if kind in ("label", "note") else "")

    @rule()
    def next(self) -> None:
        assert self.session.handle({"op": "next"})["ok"]
        if self.position + 1 < TOTAL:
            self.move(self.position + 1)

    @rule()
    def back(self) -> None:
        assert self.session.handle({"op": "back"})["ok"]
        if self.history:
            self.stand(*self.history.pop())
        elif self.position:
            self.stand(self.position - 1)

    @rule(position=st.integers(0, TOTAL - 1))
    def go(self, position: int) -> None:
        assert self.session.handle({"op": "go", "position": position})["ok"]
        self.move(position)

    @rule(name=st.sampled_from(NAMES))
    def choose(self, name: str) -> None:
        assert self.session.handle({"op": "choose", "dimension": name})["ok"]
        self.dimension = name

    @rule()
    def resume(self) -> None:
        self.session.close()
        self.session = open_session(self.run_, self.folder / "labels", dimensions=None)
        states = self.states()
        left = [at for at in range(TOTAL) if len(states[at]["labels"]) < 2]
        fresh = [at for at in left if not states[at]["skipped"]]
        self.history = []
        self.stand((fresh or left or [0])[0])

    # Both say the same.

    @invariant()
    def stands_where_the_model_stands(self) -> None:
        assert (self.session.position, self.session.dimension) == (self.position, self.dimension)

    @invariant()
    def shows_what_the_model_holds(self) -> None:
        view, state = self.session.view(), self.here()
        for own in view["dimensions"]:
            name = own["name"]
            assert own["answered"] == (name in state["labels"])
            assert own["score"] == state["labels"].get(name)
            assert (own["note"], own["turn"]) == state["words"].get(name, ("", None))
        assert [(one["text"], one["turn"]) for one in view["failures"]] == state["failures"]
        done = [one for one in self.states().values() if len(one["labels"]) == 2]
        skipped = [
            one for one in self.states().values() if one["skipped"] and len(one["labels"]) < 2
        ]
        labels = sum(len(one["labels"]) for one in self.states().values())
        assert view["progress"] == {
            "done": len(done), "skipped": len(skipped), "total": TOTAL, "labels": labels,
        }  # fmt: skip
        assert view["finished"] == (len(done) == TOTAL)

    @invariant()
    def whoever_reads_the_file_reads_the_same(self) -> None:
        said = read_labels(self.folder / "labels").labels()
        states = self.states()
        at = {self.session._order[position][0]: position for position in range(TOTAL)}
        assert {(at[row.case_id], row.dimension): row.score for row in said} == {
            (position, name): score
            for position, state in states.items()
            for name, score in state["labels"].items()
        }


TestKeys = Keys.TestCase
TestKeys.settings = settings(stateful_step_count=40)
