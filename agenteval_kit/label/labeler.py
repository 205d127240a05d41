"""The labelling screen: shows what a session shows, and hands each key on to it.

May not keep a label, nor send the browser anything that the session does not show.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError
from agenteval_kit.label.session import Session
from agenteval_kit.text import counted

try:
    import anywidget
    import traitlets
except ImportError:
    raise ConfigError(
        "the labelling screen needs anywidget, which is not installed; run "
        'pip install "agenteval-kit[label]" (or [lab], with JupyterLab) and start the kernel again'
    ) from None

__all__ = ["Labeler"]

_READ = ("item", "expected", "turns", "sources", "output", "system", "ended", "cut", "position",
         "total")  # fmt: skip
"""What of a view is the transcript; the rest changes with each key."""


class Labeler(anywidget.AnyWidget):
    """A session as a screen that is worked by keys, in JupyterLab or through Voilà.

    Each key goes to the session, which has its line on the disk before anything moves; what comes
    back is drawn. ``?`` on the screen lists the keys. In a page that was made of the notebook,
    where nobody can press one, it says how far the rater is.

    Parameters
    ----------
    session : Session
        Who reads what.
    """

    _esm = Path(__file__).with_name("labeler.js")
    _css = Path(__file__).with_name("labeler.css")
    # Two, so that a key that stays on a transcript does not send it again.
    item = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._show(ack=[])
        self.on_msg(self._take)

    def _take(self, _: Labeler, content: dict[str, Any], __: object) -> None:
        message = dict(content)
        # Which view asked, and its how manieth message this answers.
        ack = message.pop("ack", [])
        try:
            came = self.session.handle(message)
            if "text" in came:
                self.send({"place": message["place"], "text": came["text"]})
            self._show(ack=ack)
        except Exception as error:
            # ipywidgets would write it to a log, and the rater would read on unsaved.
            told = f"{type(error).__name__}: {error}. Whether the last key was saved is not known."
            self.state = {**self.state, "error": told, "ack": ack}

    def _show(self, *, ack: list[int]) -> None:
        view = self.session.view()
        with self.hold_sync():
            self.item = {name: view.pop(name) for name in _READ}
            self.state = {**view, "ack": ack}

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]] | None:
        shown: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_()
        if shown is not None:
            shown[0]["text/html"] = self._stand_in()
        return shown

    def _stand_in(self) -> str:
        done = self.session.progress
        asked = ", ".join(name.replace("_", " ") for name in self.session.dimensions)
        return (
            '<div class="agenteval card"><p><b>The labelling screen stands here in JupyterLab and '
            f"Voilà.</b> {escape(self.session.rater)}: {done['done']:,} of "
            f"{counted(done['total'], 'transcript')} done, {done['skipped']} skipped, "
            f"{counted(done['labels'], 'label')} saved. "
            f"Asked for: {escape(asked) or 'what went wrong, in words'}.</p></div>"
        )
