"""A button in a notebook: what failed in a run, and the one chosen becomes a draft.

May not decide what is drafted: `promote_case` does.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.runs import Run
from agenteval_kit.suite.promote import promote_case
from agenteval_kit.text import counted
from agenteval_kit.visible import printable

try:
    import ipywidgets
except ImportError:
    raise ConfigError(
        "the button needs ipywidgets, which is not installed; run "
        'pip install "agenteval-kit[lab]" and start the kernel again, or call promote_case'
    ) from None

__all__ = ["PromoteButton", "promote_button"]


class PromoteButton(ipywidgets.VBox):  # type: ignore[misc]
    """A list of failures and a button; what came of each click stands below, and in `said`."""

    def __init__(self, run: Run, *, suite: str | Path | None) -> None:
        self.run = run
        self.suite = suite
        self.said: list[str] = []
        options = _failures(run)
        self.failures = ipywidgets.Dropdown(
            options=options, description="What failed", layout={"width": "100%"}
        )
        self.button = ipywidgets.Button(
            description="Promote to a draft", disabled=not options, layout={"width": "auto"}
        )
        self.told = ipywidgets.HTML("" if options else "<p>Nothing failed in this run.</p>")
        self.button.on_click(self._promote)
        super().__init__([self.failures, self.button, self.told])

    def _promote(self, _: object) -> None:
        case_id, repeat, layer = self.failures.value
        try:
            lines = promote_case(
                self.run, case_id, layer=layer, repeat=repeat, suite=self.suite
            ).lines()
        # Whatever it is: a widget swallows what its callback raises, and nobody would see it.
        except Exception as error:
            lines = [f"{type(error).__name__}: {error}"]
        said = "<br>".join(escape(printable(line).strip()) for line in lines)
        self.said.append(said)
        self.told.value = f'<p role="status">{said}</p>{self.told.value}'

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        shown: dict[str, Any] = super()._repr_mimebundle_() or {}
        count = len(self.failures.options)
        shown["text/html"] = (
            f'<p class="note">In JupyterLab a button stands here: it promotes a failure of '
            f"this run ({counted(count, 'failure')}) to a draft of a case.</p>"
        )
        return shown


def promote_button(run: Run, *, suite: str | Path | None = None) -> PromoteButton:
    """What failed in a run, as a list with a button that promotes the failure chosen.

    Parameters
    ----------
    run : Run
        With its checks.
    suite : path, optional
        Where drafts go; by default the run's own suite.

    Raises
    ------
    ConfigError
        If a row of the run cannot be read.
    """
    return PromoteButton(run, suite=suite)


def _failures(run: Run) -> list[tuple[str, tuple[str, int, str]]]:
    """One entry a case, repeat and layer, with the first check that failed there."""
    found: dict[tuple[str, int, str], str] = {}
    for row in run.check_rows():
        if row.passed is False:
            label = f"{row.case_id} · {row.layer} · {row.name}: {row.why}"
            if run.repeats > 1:
                label = f"{row.case_id} · repeat {row.repeat} · {row.layer} · {row.name}: {row.why}"
            found.setdefault((row.case_id, row.repeat, row.layer), printable(label)[:160])
    return [(label, key) for key, label in found.items()]
