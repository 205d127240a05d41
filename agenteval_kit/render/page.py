"""An executed notebook as one HTML file that needs nothing from elsewhere.

May not execute anything, and lets no script run but its own: the page's policy names their digests.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import pkgutil
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from nbconvert.exporters.templateexporter import TemplateExporter
from nbconvert.filters import Highlight2HTML

from agenteval_kit.report.markup import Html, tag
from agenteval_kit.report.sheet import style_sheet

__all__ = ["Code", "build_page"]

FIGURE = "application/vnd.plotly.v1+json"
_TEMPLATES = Path(__file__).parent / "template"
# What a reader can do with a figure is look at it: no tool bar, no zoom that hides a part.
_CONFIG = {"displayModeBar": False, "responsive": True, "showTips": False}
# The height of a figure's title, which the page draws itself.
_TITLE = 28
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


Code = Literal["beside", "last"]


def build_page(
    notebook: Any, *, title: str | None = None, heading: str | None = None, code: Code = "beside"
) -> str:
    """The page: figures drawn by plotly.js that it carries once, code folded away.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Executed. Its outputs are replaced by what the page shows of them.
    title : str, optional
        Else the first heading.
    heading : str, optional
        What the first heading says in place of the notebook's.
    code : str
        Where the folded code stands: beside each output, as an article that teaches wants it, or
        last on the page, as a report does.
    """
    figures = _Figures()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [shown for one in cell.outputs if (shown := _output(one, figures))]
    if heading is not None:
        _head(notebook, heading)
    scripts = [_template("page.js")]
    held, late = {}, []
    if figures.drawn:
        scripts.append(_template("figures.js"))
        late = [_plotly()]
        # Data, which no browser runs; packed, because 5 MB of script weigh 2 MB then.
        packed = gzip.compress(late[0].encode(), mtime=0)
        held = {
            "plotly-packed": base64.b64encode(packed).decode(),
            "figures": figures.as_json(),
        }
    resources = {
        "title": title or heading or _first_heading(notebook),
        "style": f"{style_sheet()}\n{_COMMENT.sub('', _template('page.css'))}",
        "held": held,
        "scripts": scripts,
        "code": code,
        "policy": _policy([*scripts, *late]),
    }
    # Not nbconvert's HTMLExporter: it parses the finished page and writes it anew, which takes
    # longer than everything else for a large one.
    exporter = TemplateExporter(  # type: ignore[no-untyped-call]
        template_name="agenteval",
        extra_template_basedirs=[str(_TEMPLATES)],
        template_extension=".html.j2",
        file_extension=".html",
    )
    highlight = Highlight2HTML(pygments_lexer="python")  # type: ignore[no-untyped-call]
    exporter.register_filter("highlight_code", highlight)  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(notebook, resources=resources)
    return str(body)


class _Figures:
    """Collects the figures of a notebook: a place in the page each, and one script for all."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, Mapping[str, Any]]] = []

    def place(self, figure: Mapping[str, Any]) -> Html:
        name = f"figure-{len(self.drawn) + 1}"
        layout = dict(figure.get("layout", {}))
        margin = dict(layout.get("margin", {}))
        height = int(layout.get("height") or 400) - _TITLE
        # The title is escaped for plotly, which reads tags; as a label it is plain text.
        label = html.unescape(str(layout.get("title", {}).get("text", "figure")))
        drawing = tag(
            "div",
            {"id": name, "style": f"height:{height}px", "role": "img", "aria-label": label},
        )
        # The title is the page's own, which wraps on a narrow screen; plotly's is cut off there.
        margin["t"] = max(0, margin.get("t", 80) - _TITLE)
        bare = {**layout, "title": None, "height": height, "margin": margin}
        self.drawn.append((name, {**figure, "layout": bare}))
        return tag("figure", {"class": "plot"}, tag("figcaption", None, label), drawing)

    def as_json(self) -> str:
        """What plotly is called with, figure by figure."""
        return _script_json(
            [
                (name, figure.get("data", []), figure.get("layout", {}), _CONFIG)
                for name, figure in self.drawn
            ]
        )


def _output(output: Any, figures: _Figures) -> Any:
    """What the page shows of one output; None where that is nothing."""
    if output.output_type not in ("display_data", "execute_result"):
        return output if output.output_type == "stream" else None
    if FIGURE in output.data:
        output.data = {"text/html": figures.place(output.data[FIGURE]).markup}
    elif "text/html" in output.data:
        shown = output.data["text/html"]
        output.data = {"text/html": shown if isinstance(shown, str) else "".join(shown)}
        if "<style data-sheet>" in output.data["text/html"]:
            # The live notebook's style sheet; the page has it in its head.
            return None
    return output


def _script_json(value: Any) -> str:
    # A "</script>" or "<!--" within a text would end or change the script it stands in.
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(scripts: list[str]) -> str:
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    )
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _plotly() -> str:
    # The bundle that belongs to the installed plotly, so that figures and script cannot drift
    # apart. Read as a file: importing plotly for it would cost a third of a second.
    found = pkgutil.get_data("plotly", "package_data/plotly.min.js")
    if found is None:
        raise FileNotFoundError("plotly has no package_data/plotly.min.js")
    return found.decode("utf-8")


def _head(notebook: Any, heading: str) -> None:
    """Put the heading, which is text and no markdown, in place of the notebook's first."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            cell.source = cell.source.partition("\n")[2]
            cell.metadata["heading"] = heading
            return


def _first_heading(notebook: Any) -> str:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            return str(cell.source).lstrip("# ").splitlines()[0]
    return "Notebook"
