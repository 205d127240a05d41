"""Which runs were releases, and which run is meant by ``latest``, a name, an id or a path.

May not decide a release: the verdict of the gate is handed in and noted as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, StrictStr

from agenteval_kit.errors import ConfigError, Problem, Problems, did_you_mean
from agenteval_kit.files import Appender, hold, read_jsonl
from agenteval_kit.places import find_place
from agenteval_kit.records.fields import Name
from agenteval_kit.records.parsing import parse_record
from agenteval_kit.runs.folder import Run
from agenteval_kit.runs.info import now_text
from agenteval_kit.text import counted

__all__ = ["Published", "choose_baseline", "find_baseline", "publish_run", "read_published",
           "release_of"]  # fmt: skip

FILE = "published.jsonl"
LATEST = ("latest", "latest published")


def _release_name(value: str) -> str:
    if value.casefold() in LATEST:
        raise ValueError(f'"{value}" means the last one, whichever that is; choose another name')
    if "/" in value or "\\" in value:
        raise ValueError(f'"{value}" would be taken for a path; choose another name')
    return value


class Published(BaseModel):
    """A run that was a release: who said so, when, and what the gate said then.

    `run` is the name of its folder, beside which the list of releases lies; `baseline` is that of
    the run which it was held against, None where it was held against none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run: StrictStr
    name: Annotated[Name, AfterValidator(_release_name)]
    by: Name
    at: StrictStr
    suite: StrictStr
    suite_digest: StrictStr
    verdict: Literal["SHIP", "HOLD", "REVIEW"]
    bar_digest: StrictStr
    baseline: StrictStr | None = None

    @property
    def doubt(self) -> str:
        """What whoever is held against it has to know; empty where the gate said SHIP."""
        if self.verdict == "SHIP":
            return ""
        return (
            f"the baseline is the release {self.name}, which {self.by} published on "
            f"{self.verdict}: not to be worse than it may not be enough"
        )


def publish_run(
    run: Run,
    *,
    by: str,
    verdict: str,
    bar_digest: str,
    name: str | None = None,
    baseline: Run | None = None,
) -> Published:
    """Note that a run is a release; the list is only ever added to.

    Parameters
    ----------
    run : Run
        Complete, and of the whole suite.
    by : str
        Who published it.
    verdict, bar_digest : str
        What the gate said, under which bar. A release that was shipped on HOLD is noted as one.
    name : str, optional
        By which it is found again; by default the run's id.
    baseline : Run, optional
        What it was held against.

    Raises
    ------
    ConfigError
        If the run is incomplete or a part of its suite, or the name is taken or none.
    """
    missing = len(run.missing())
    if missing:
        raise ConfigError(
            Problem(
                f"is incomplete: {missing:,} of {counted(len(run.wanted()), 'transcript')} "
                "missing, and a release is published whole; finish it with the command that "
                "began it",
                str(run.path),
            )
        )
    if any(run.info.selection.model_dump().values()):
        raise ConfigError(
            Problem("covers a part of its suite; publish a run of the whole", str(run.path))
        )
    root = run.path.parent
    row = {
        "run": run.id, "name": run.id if name is None else name, "by": by, "at": now_text(),
        "suite": run.info.suite, "suite_digest": run.info.suite_digest, "verdict": verdict,
        "bar_digest": bar_digest, "baseline": None if baseline is None else baseline.id,
    }  # fmt: skip
    made = _parse(row, root / FILE, None)
    with hold(root):
        _refuse_taken(made, root)
        appender = Appender(root / FILE, sync=True)
        appender.append([made.model_dump(mode="json", exclude_none=True)])
        appender.close()
    return made


def _refuse_taken(made: Published, root: Path) -> None:
    for one in read_published(root):
        if one.name == made.name and one.suite == made.suite:
            raise ConfigError(
                Problem(
                    f'"{made.name}" is published already: {one.run}, by {one.by} at {one.at}; '
                    "choose another name with --name",
                    str(root / FILE),
                )
            )
    if made.name != made.run and (root / made.name / "run.json").exists():
        raise ConfigError(
            Problem(
                f'"{made.name}" is the id of another run, which nobody would find by it any more; '
                "choose another name with --name",
                str(root / FILE),
            )
        )


def read_published(root: Path) -> list[Published]:
    """The releases among the runs of a folder, in the order in which they were published.

    Raises
    ------
    ConfigError
        If the list cannot be read.
    """
    path = root / FILE
    if not path.exists():
        return []
    return [_parse(row.value, path, row.line) for row in read_jsonl(path, torn="drop")]


def release_of(run: Run) -> Published | None:
    """As which release a run was published last; None where it never was."""
    found = [
        one
        for one in read_published(run.path.parent)
        if (one.run, one.suite) == (run.id, run.info.suite)
    ]
    return found[-1] if found else None


def find_baseline(named: str | Path, run: Run) -> Run:
    """The run that a name means, for whoever compares `run` with it.

    Parameters
    ----------
    named : str or path
        A run folder; ``latest`` (or ``latest published``), the release of the same suite that was
        published last and is not `run` itself; the name of a release; or the id of a run that
        lies beside this one.
    run : Run
        The new run.

    Raises
    ------
    ConfigError
        If the name means none.
    """
    text, root = str(named), run.path.parent
    if (place := _folder(named)) is not None:
        return Run.open(place)
    releases = [one for one in read_published(root) if one.suite == run.info.suite]
    if text in LATEST:
        found = [one for one in releases if one.run != run.id]
        if found:
            return _open(found[-1], root)
        raise ConfigError(
            Problem(
                f"no {'other ' if releases else ''}run of suite {run.info.suite} is published "
                "here; `agenteval publish RUN --by NAME` marks a release",
                str(root / FILE),
            )
        )
    for one in reversed(releases):
        if one.name == text:
            return _open(one, root)
    if (root / text / "run.json").is_file():
        return Run.open(root / text)
    known = {one.name for one in releases} | {"latest"}
    raise ConfigError(
        f'baseline "{text}": is no run folder, no published name of suite {run.info.suite} and no '
        f"run in {root}.{did_you_mean(text, known)}"
    )


def choose_baseline(
    run: Run, *, given: str | Path | None = None, written: str | Path | None = None
) -> Run | None:
    """The baseline that a person named, else the suite's own, else None.

    A suite that says ``baseline: latest`` has none before the first release; who names it by hand
    is told so.

    Raises
    ------
    ConfigError
        If a name means no run.
    """
    if given is not None:
        return find_baseline(given, run)
    if written is None:
        return None
    named = written if _folder(written) is not None else Path(written).name
    others = (one for one in read_published(run.path.parent) if one.run != run.id)
    if named in LATEST and not any(one.suite == run.info.suite for one in others):
        return None
    return find_baseline(named, run)


def _folder(named: str | Path) -> Path | None:
    try:
        place = find_place(named)
    except ConfigError:
        return None
    return place if (place / "run.json").is_file() else None


def _open(release: Published, root: Path) -> Run:
    if not (root / release.run / "run.json").is_file():
        raise ConfigError(
            Problem(
                f'release "{release.name}" was run {release.run}, and that folder is not here '
                "any more; name another baseline",
                str(root / FILE),
            )
        )
    return Run.open(root / release.run)


def _parse(row: dict[str, Any], path: Path, line: int | None) -> Published:
    problems = Problems()
    found = parse_record(
        Published, row, file=str(path), line=lambda _: line or 0, what="release", problems=problems
    )
    problems.raise_any()
    assert found is not None
    return found
