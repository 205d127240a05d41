"""An executed notebook as one HTML file that needs nothing from elsewhere.

May not execute anything, and lets no script run but its own: the page's policy names their digests.
"""

from __future__ import annotations

import base64
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
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


Code = Literal["beside", "last"]


def build_page(notebook: Any, *, title: str | None = None, code: Code = "beside") -> str:
    """The page: figures drawn by plotly.js that stands once in its head, code folded away.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        Executed. Its outputs are replaced by what the page shows of them.
    title : str, optional
        Else the first heading.
    code : str
        Where the folded code stands: beside each output, as an article that teaches wants it, or
        last on the page, as a report does.
    """
    figures = _Figures()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [shown for one in cell.outputs if (shown := _output(one, figures))]
    head = [_plotly()] if figures.drawn else []
    foot = [(_TEMPLATES / "page.js").read_text(encoding="utf-8"), *figures.scripts()]
    own = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    resources = {
        "title": title or _first_heading(notebook),
        "style": f"{style_sheet()}\n{_COMMENT.sub('', own)}",
        "head_scripts": head,
        "foot_scripts": foot,
        "code": code,
        "policy": _policy([*head, *foot]),
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
        self.drawn.append((name, figure))
        layout = figure.get("layout", {})
        height = int(layout.get("height") or 400)
        # The title is escaped for plotly, which reads tags; as a label it is plain text.
        label = html.unescape(str(layout.get("title", {}).get("text", "figure")))
        drawing = tag("div", {"id": name, "style": f"height:{height}px"})
        return tag("figure", {"class": "plot", "role": "img", "aria-label": label}, drawing)

    def scripts(self) -> list[str]:
        if not self.drawn:
            return []
        calls = [
            f"Plotly.newPlot({_script_json(name)},{_script_json(figure.get('data', []))},"
            f"{_script_json(figure.get('layout', {}))},{_script_json(_CONFIG)});"
            for name, figure in self.drawn
        ]
        return ["\n".join(calls)]


def _output(output: Any, figures: _Figures) -> Any:
    """What the page shows of one output; None where that is nothing."""
    if output.output_type not in ("display_data", "execute_result"):
        return output if output.output_type == "stream" else None
    if FIGURE in output.data:
        output.data = {"text/html": figures.place(output.data[FIGURE]).markup}
    elif "text/html" in output.data:
        shown = output.data["text/html"]
        output.data = {"text/html": shown if isinstance(shown, str) else "".join(shown)}
        if "<style>" in output.data["text/html"]:
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


def _plotly() -> str:
    # The bundle that belongs to the installed plotly, so that figures and script cannot drift
    # apart. Read as a file: importing plotly for it would cost a third of a second.
    found = pkgutil.get_data("plotly", "package_data/plotly.min.js")
    if found is None:
        raise FileNotFoundError("plotly has no package_data/plotly.min.js")
    return found.decode("utf-8")


def _first_heading(notebook: Any) -> str:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            return str(cell.source).lstrip("# ").splitlines()[0]
    return "Notebook"
