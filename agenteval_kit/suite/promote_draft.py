"""What a draft expects: the first source that has something that fails on the transcript.

May not write, and may not keep an expectation that the transcript meets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.records import LAYERS, CheckRow, Transcript
from agenteval_kit.suite.items import Item
from agenteval_kit.suite.promote_expect import (
    Entry,
    entries_of,
    failing_rows,
    reference_entries,
    shipped_entries,
    stated_calls,
)
from agenteval_kit.suite.promote_place import Place, Written
from agenteval_kit.suite.promote_shape import Step, breaking_step

__all__ = ["Drafting", "Found"]


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that fails, with the row that says where."""

    entry: Entry
    row: CheckRow


@dataclass(frozen=True, slots=True)
class Drafting:
    """One transcript on its way to a draft.

    Attributes
    ----------
    transcript : Transcript
        What was seen.
    item : Case or Scenario or None
        What it was a run of, if that is known.
    layer : str
        What broke.
    name : str
        The draft's id.
    place : Place
        Where it goes.
    written : Written
        The suite that the transcript was made for; that of `place` where none is known.
    """

    transcript: Transcript
    item: Item | None
    layer: str
    name: str
    place: Place
    written: Written

    def expectations(self) -> tuple[list[Found], list[str]]:
        """What fails: of the suite's checks, else of the reference, else what the kit looks for.

        With what a person should know of it.

        Raises
        ------
        ConfigError
            If nobody knows the layer.
        """
        notes = []
        target = self.place.written
        if target.plays_back:
            notes.append(
                "this suite plays a recording back, which holds nothing of a new case: counted, "
                "the draft would leave every run incomplete. Promote it to a suite with a live "
                "agent (--suite)"
            )
        stated = list(entries_of(self.item, self.written, to=target.folder))
        if self.written is not target:
            suite = entries_of(None, target, to=target.folder)
            stated += [one for one in suite if one not in stated]
        found = self._failing(stated, layer=self.layer)
        if not found and self.layer == "outcome":
            actions = (name for one in self.written.items for name, _ in stated_calls(one))
            wanted = reference_entries(self.item, self.transcript, known=frozenset(actions))
            # Calls are of the trajectory, also where they are what should have come out.
            found = self._failing(wanted, layer=None)
            if found:
                notes.append(
                    "drafted from the reference actions: another way to the same end would fail too"
                )
        if not found and self.layer not in LAYERS:
            raise ConfigError(
                f'no check of layer "{self.layer}" failed on {self.transcript.case_id}, repeat '
                f"{self.transcript.repeat}, and the kit knows no such layer."
                f"{did_you_mean(self.layer, LAYERS)}"
            )
        if not found:
            found = self._failing(shipped_entries(self.layer), layer=self.layer)
            if found:
                notes.append(
                    "no check of the suite failed here: drafted from what the kit looks for"
                )
        return found, notes

    def of_one_reply(self, found: list[Found]) -> tuple[list[Found], Step, Transcript]:
        """What fails in the first reply that broke, and the conversation up to its end.

        What had failed before that reply stands in the thread, where no agent could mend it.
        """
        turns = [one.row.turn for one in found if one.row.turn is not None]
        step = breaking_step(self.transcript, min(turns, default=None))
        cut = self.transcript.model_copy(update={"turns": self.transcript.turns[: step.end]})
        again = replace(self, transcript=cut)._failing((one.entry for one in found), layer=None)
        kept = [one for one in again if one.row.turn is None or one.row.turn > step.asked]
        return kept, step, cut

    def _failing(self, entries: Iterable[Entry], *, layer: str | None) -> list[Found]:
        free_text = {*self.written.spec.free_text, *self.place.written.spec.free_text}
        rows = failing_rows(
            entries, self.transcript, item=self.item, name=self.name, free_text=free_text,
            at=self.place.written.folder / "draft",
        )  # fmt: skip
        return [Found(entry, row) for entry, row in rows if layer is None or row.layer == layer]
