"""Executes a copy of a notebook and renders it; a notebook that failed is never rendered.

May not hold a notebook's logic, and never writes into the notebook it was given.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError

from agenteval_kit.errors import AgentEvalError, ConfigError, Problem, did_you_mean
from agenteval_kit.files import write_atomic
from agenteval_kit.render.kernel import ThisPython
from agenteval_kit.render.page import Code, build_page
from agenteval_kit.render.parameters import check_parameters
from agenteval_kit.render.scrub import Scrubber

__all__ = ["execute_notebook", "find_notebook"]


def execute_notebook(
    name_or_path: str | Path,
    *,
    parameters: Mapping[str, object] | None = None,
    out_html: Path,
    out_notebook: Path | None = None,
    title: str | Callable[[], str] | None = None,
    heading: Callable[[], str] | None = None,
    code: Code = "beside",
    timeout: int | None = None,
) -> Path:
    """Run a notebook on this interpreter and write it as one HTML file.

    Relative paths among the parameters resolve against the working directory, as everywhere.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        A shipped notebook ("7_release"), or a file.
    parameters : mapping, optional
        Values for its parameters cell; types are checked against the defaults there.
    out_html : pathlib.Path
        Where the page goes. A page that is there already is removed first, so that a failed
        notebook never leaves an older verdict behind under its name.
    out_notebook : pathlib.Path, optional
        Where the executed copy goes; beside the page by default.
    title : str or callable, optional
        Title of the page; else the notebook's first heading. A callable is asked when the notebook
        has run.
    heading : callable, optional
        What the first heading of the page says in place of the notebook's, asked likewise: a
        notebook begins with its question, and a page of findings with what was found.
    code : str
        Where the folded code stands: "beside" each output, or "last" on the page.
    timeout : int, optional
        Seconds that one cell may take.

    Returns
    -------
    pathlib.Path
        `out_html`.

    Raises
    ------
    ConfigError
        If there is no such notebook, a parameter is unknown or does not fit, or the notebook met
        a configuration that a person can mend.
    AgentEvalError
        If a cell failed; the executed copy shows where.
    """
    source = find_notebook(name_or_path)
    fitted = check_parameters(source, parameters or {})
    executed = out_notebook if out_notebook is not None else out_html.with_suffix(".ipynb")
    if executed.resolve() == source.resolve():
        raise ConfigError(
            Problem("would be overwritten by its executed copy; name another file", source.name)
        )
    for folder in (executed.parent, out_html.parent):
        folder.mkdir(parents=True, exist_ok=True)
    out_html.unlink(missing_ok=True)
    with _calm():
        try:
            notebook = papermill.execute_notebook(
                str(source),
                str(executed),
                parameters=fitted,
                # "python3" only satisfies papermill: the manager below decides what is started.
                kernel_name="python3",
                language="python",
                kernel_manager_class=ThisPython,
                progress_bar=False,
                log_output=False,
                execution_timeout=timeout,
                cwd=str(Path.cwd()),
            )
        except PapermillExecutionError as error:
            raise _failed(source, executed, error) from None
        except CellTimeoutError:
            raise AgentEvalError(
                f"{source.name}: a cell took more than {timeout} seconds and was ended; "
                f"no page was written"
            ) from None
        except DeadKernelError:
            raise AgentEvalError(
                f"{source.name}: its kernel died, most often for want of memory; "
                f"no page was written"
            ) from None
        scrubber = Scrubber.of_this_machine(known=[Path(str(value)) for value in fitted.values()])
        notebook = nbformat.from_dict(  # type: ignore[no-untyped-call]
            scrubber.clean(_without_run_metadata(notebook))
        )
        write_atomic(executed, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        write_atomic(
            out_html,
            build_page(
                notebook,
                title=title() if callable(title) else title,
                heading=None if heading is None else str(scrubber.clean(heading())),
                code=code,
            ),
        )
    return out_html


def find_notebook(name_or_path: str | Path) -> Path:
    """A notebook by its file, or a shipped one by its name with or without ``.ipynb``.

    Raises
    ------
    ConfigError
        If there is none, with the nearest name.
    """
    path = Path(name_or_path)
    if path.is_file():
        return path
    package = Path(__file__).resolve().parents[1]
    # An installed package carries the notebooks within; a checkout has them beside it.
    for folder in (package / "_notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            known = {file.stem: file for file in folder.glob("*.ipynb")}
            stem = path.name.removesuffix(".ipynb")
            if stem in known:
                return known[stem]
            raise ConfigError(f'there is no notebook "{name_or_path}".{did_you_mean(stem, known)}')
    raise ConfigError("the shipped notebooks are not installed; install agenteval-kit again")


def _failed(source: Path, executed: Path, error: PapermillExecutionError) -> AgentEvalError:
    if error.ename in ("ConfigError", "StampError"):
        return ConfigError(str(error.evalue))
    return AgentEvalError(
        f"{source.name}: cell {error.cell_index + 1} failed with {error.ename}: {error.evalue}. "
        f"{executed} shows where; no page was written"
    )


def _without_run_metadata(notebook: Any) -> Any:
    # papermill notes absolute paths and times there; the page must be the same on any machine.
    notebook.metadata.pop("papermill", None)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    return notebook


@contextlib.contextmanager
def _calm() -> Iterator[None]:
    """Keep the warnings of the tools below, which no reader can act on, off the terminal."""
    with warnings.catch_warnings():
        for module in ("papermill", "nbformat", "nbclient", "nbconvert", "jupyter_client", "zmq"):
            warnings.filterwarnings("ignore", module=rf"{module}(\.|$)")
        warnings.filterwarnings("ignore", message=".*Jupyter is migrating its paths.*")
        yield
