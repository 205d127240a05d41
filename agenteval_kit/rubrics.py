"""Reads a rubric from its file, with every complaint at its line, and warns of weak anchors.

May not ask a judge.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from agenteval_kit.errors import ConfigError, Problem, Problems
from agenteval_kit.files import Document, digest, read_text, read_yaml
from agenteval_kit.records import Dimension, Rubric
from agenteval_kit.records.parsing import parse_record

__all__ = ["dimension_digest", "load_rubric", "rubric_digest", "rubric_warnings"]

Loc = tuple[str | int, ...]

_STAND_IN = Dimension(name="none", definition="-", anchors={0: "-", 1: "-"})
_DRAFT = (
    "this text is still a draft; write what can be observed in a transcript, without the word DRAFT"
)
_THRESHOLDS = frozenset(
    {"threshold", "thresholds", "bar", "at_least", "minimum", "min_score", "pass", "pass_at",
     "pass_mark", "pass_threshold", "passing", "passing_score", "cutoff", "mean", "never", "gate"}
)  # fmt: skip

# Words that praise or blame without saying what can be seen.
_VAGUE = frozenset(
    """good bad poor excellent great fine decent fair adequate inadequate appropriate inappropriate
    satisfactory unsatisfactory reasonable acceptable unacceptable mediocre average perfect
    terrible awful outstanding exceptional ideal strong weak high low helpful unhelpful clear
    unclear correct incorrect accurate inaccurate relevant irrelevant useful useless natural
    professional friendly polite quality effective ineffective efficient inefficient thorough
    well badly poorly mostly somewhat partially partly fully very quite rather fairly extremely
    generally largely slightly moderately completely entirely totally highly best worst better
    worse superb solid sufficient insufficient suitable proper comprehensive coherent""".split()
)
# Words that carry nothing by themselves.
_FILLER = frozenset(
    """a an the is are was were be been of in on at to for and or but with without by as it its
    this that these those not no nor all any some most more less much many few overall response
    answer reply agent assistant output conversation user customer text content which what who
    has have had does do did can could may might should would will there their they them from
    than then so too only also level score rating aspects aspect way manner sense needs need
    meets meet requirements expectations""".split()
)
_NEUTRAL = re.compile(
    r"\b(neutral|average|mediocre|middling|moderate(?:ly)?|medium|mixed|so-so|ok|okay|"
    r"acceptable|in between|unsure|undecided|"
    # "Neither done nor refused" can be observed; "neither good nor bad" is a judgment.
    r"neither (?:good|bad|agree|disagree|right|wrong|helpful|efficient|clear|yes|high|low|positive|"
    r"negative|satisfied|strong|weak)\b.* nor)\b",
    re.IGNORECASE,
)


def load_rubric(path: str | Path) -> Rubric:
    """Read a rubric from YAML; see `rubric_warnings` for what is legal and weak.

    A file is one mapping with `dimensions`, or a single dimension, or a list of them.

    Parameters
    ----------
    path : path
        The file. `prompt_file` of a dimension resolves against it.

    Raises
    ------
    ConfigError
        All problems of the file at once: an unknown key, a threshold, a level without a place on
        the scale, a text that is still a draft, a placeholder that is not defined, an even panel.

    Examples
    --------
    >>> [one.name for one in load_rubric("data/rubrics/support.yaml").dimensions][:2]
    ['goal_completion', 'elicitation_efficiency']
    """
    file = Path(path)
    document = read_yaml(file)
    problems = Problems()
    top, found = _parts(document)
    for key in sorted(_THRESHOLDS & set(top)):
        problems.add(_threshold(key), file=file, line=document.line(key))
        del top[key]
    name = str(top.setdefault("name", re.sub(r"[^\w.-]+", "-", file.stem) or "rubric"))
    made = [
        _dimension(value, at, document, problems, name=name if len(found) == 1 else None)
        for value, at in found
    ]
    good = [one for one in made if one is not None]
    rubric = parse_record(
        Rubric,
        # What is wrong beside the dimensions is told even where all of them are wrong.
        {**top, "dimensions": good or [_STAND_IN]} if made else top,
        file=str(file),
        line=lambda loc: document.line(*loc),
        what="rubric",
        problems=problems,
    )
    problems.raise_any()
    assert rubric is not None
    return rubric


def rubric_digest(rubric: Rubric) -> str:
    """Digest of a rubric's content: one letter makes another rubric."""
    return digest(rubric.model_dump(mode="json"))


def dimension_digest(dimension: Dimension) -> str:
    """Digest of one dimension's content; another dimension's text never changes it."""
    return digest(dimension.model_dump(mode="json"))


def rubric_warnings(rubric: Rubric) -> list[str]:
    """What is legal in a rubric and makes its scores weak, one sentence each.

    Levels without an anchor, anchors that praise without naming anything that could be observed,
    levels that read alike, more than five levels, and a neutral middle where doubt collects.
    """
    told: list[str] = []
    for one in rubric.absolute():
        where = f'dimension "{one.name}"'
        bare = [level for level in one.levels if level not in one.anchors]
        if bare:
            told.append(
                f"{where}: no anchor at {_listed(bare)}; describe what can be observed there, or "
                "leave the level out"
            )
        for level, text in sorted(one.anchors.items()):
            if is_vague(text):
                told.append(
                    f'{where}, level {level}: "{_short(text)}" names nothing that can be '
                    "observed; say what stands in the transcript at this level"
                )
        texts = [text.casefold().strip() for text in one.anchors.values()]
        if len(set(texts)) < len(texts):
            told.append(f"{where}: two levels read alike, so no judge can tell them apart")
        if len(one.levels) > 5:
            told.append(
                f"{where}: {len(one.levels)} levels; people and models keep hardly more than "
                "five apart"
            )
        middle = _neutral_middle(one)
        if middle is not None:
            told.append(
                f"{where}, level {middle}: a neutral middle collects every doubt; take it out, or "
                "describe it by what is observed"
            )
    return told


def is_vague(anchor: str) -> bool:
    """Whether an anchor praises or blames and names nothing that could be observed.

    A guess from words: fewer than three that are neither praise nor filler.
    """
    words = re.findall(r"[^\W_][\w'-]*", anchor.casefold())
    return sum(word not in _VAGUE and word not in _FILLER for word in words) < 3


def _neutral_middle(dimension: Dimension) -> int | None:
    levels = dimension.levels
    if len(levels) % 2 == 0 or len(levels) < 3:
        return None
    middle = levels[len(levels) // 2]
    text = dimension.anchors.get(middle, "")
    return middle if _NEUTRAL.search(text) else None


def _parts(document: Document) -> tuple[dict[str, Any], list[tuple[Any, Loc]]]:
    """What stands beside the dimensions, and each dimension with its place in the file."""
    value = document.value
    if isinstance(value, dict) and "dimensions" in value:
        listed = value["dimensions"]
        if not isinstance(listed, list):
            return dict(value), []
        rest = {key: item for key, item in value.items() if key != "dimensions"}
        return rest, [(one, ("dimensions", index)) for index, one in enumerate(listed)]
    if isinstance(value, list):
        return {}, [(one, (index,)) for index, one in enumerate(value)]
    if isinstance(value, dict):
        rest = {key: value[key] for key in ("version", "note") if key in value}
        return rest, [({key: item for key, item in value.items() if key not in rest}, ())]
    raise ConfigError(Problem("a rubric wants key: value pairs", str(document.file), 1))


def _dimension(
    value: Any, at: Loc, document: Document, problems: Problems, *, name: str | None
) -> Dimension | None:
    """One dimension, or None with its problems noted; `name` is for one that has none."""
    file = document.file
    made = dict(value) if isinstance(value, dict) else value
    if isinstance(made, dict):
        for key in sorted(_THRESHOLDS & set(made)):
            problems.add(_threshold(key), file=file, line=document.line(*at, key))
            del made[key]
        criterion = made.get("criterion")
        named = isinstance(criterion, str) and re.fullmatch(r"[\w.-]{1,80}", criterion)
        if name is not None and not named:
            made.setdefault("name", name)
        for place in _drafts(made):
            problems.add(_DRAFT, file=file, line=document.line(*at, *place))
        if "prompt_file" in made:
            _read_prompt(made, at, document, problems)
    own = made.get("name", made.get("criterion")) if isinstance(made, dict) else None
    return parse_record(
        Dimension,
        made,
        file=str(file),
        line=lambda loc: document.line(*at, *loc),
        what=f'dimension "{own}"' if own is not None else "dimension",
        problems=problems,
        also_known=("criterion", "output", "prompt_file"),
    )


def _drafts(made: dict[str, Any]) -> list[Loc]:
    """Where a skeleton still waits for somebody to write: a judge would score by a stand-in."""
    anchors = made.get("anchors")
    texts: list[tuple[Loc, Any]] = [(("definition",), made.get("definition"))]
    if isinstance(anchors, dict):
        texts += [(("anchors", level), text) for level, text in anchors.items()]
    return [at for at, text in texts if isinstance(text, str) and text.startswith("DRAFT")]


def _read_prompt(made: dict[str, Any], at: Loc, document: Document, problems: Problems) -> None:
    named = made.pop("prompt_file")
    try:
        if not isinstance(named, str):
            raise ConfigError(f'"prompt_file" wants a path, but holds {named!r}')
        made["prompt"] = read_text(document.file.parent / named)
    except ConfigError as error:
        for problem in error.problems:
            problems.add(str(problem), file=document.file, line=document.line(*at, "prompt_file"))


def _threshold(key: str) -> str:
    return (
        f'"{key}" is a threshold, and thresholds live in the bar, so that a judge never sees what '
        "is enough; write mean: {<dimension>: <number>} or never: there"
    )


def _listed(levels: list[int]) -> str:
    return ", ".join(map(str, levels))


def _short(text: str) -> str:
    return text if len(text) <= 50 else f"{text[:49]}…"
