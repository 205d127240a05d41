"""Published verdicts of judges and people as preference rows: MT-Bench, LLMBar and PandaLM.

May not ask a judge, and may not mend what a source left empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from agenteval_kit.errors import ConfigError, Problem, Problems, did_you_mean
from agenteval_kit.files import digest, read_jsonl, read_text
from agenteval_kit.pairwise.pending import settle_orders
from agenteval_kit.records.preferences import OrderRecord, Outcome, PreferenceRow, Side

__all__ = ["GOLD", "import_preferences"]

GOLD = "gold label"
"""The judge's name of rows that hold a source's own label."""

Format = Literal["mt_bench", "llmbar", "pandalm"]

_MT_BENCH = ("question_id", "model_a", "model_b", "winner", "judge", "turn")
_LLMBAR = ("subset", "i", "judge", "prompt", "label", "winner_original", "winner_swapped")
_PANDALM = ("idx", "task", "cmp_key")
_WINNERS: dict[str, Outcome] = {
    "model_a": "old",
    "model_b": "new",
    "tie": "tie",
    "tie (inconsistent)": "tie",
}
_OUTPUTS: dict[str, Outcome] = {"1": "old", "2": "new"}
_RESPONSES: dict[str, Outcome] = {**_OUTPUTS, "0": "tie", "Tie": "tie"}


def import_preferences(
    path: str | Path, *, judge: str = "*", format: Format | None = None
) -> list[PreferenceRow]:
    """Rows of published pairwise verdicts.

    Three formats are told by their first row. ``mt_bench`` is JSON Lines of ``question_id, model_a,
    model_b, winner, judge, turn``: the question is the case, its two turns stand as repeats 0
    and 1, so that they count as one scenario; ``tie (inconsistent)`` is a position flip; votes of
    people were shown in one order. ``llmbar`` is CSV of ``subset, i, judge, prompt, label,
    winner_original, winner_swapped``: both orders, where ``winner_swapped`` names the output,
    not the place it was shown at; an empty one was not parsed. Its label becomes one row an item
    under the judge `GOLD`. ``pandalm`` is CSV of ``idx, task, cmp_key`` and a column a person or
    judge: the task is the case, ``cmp_key`` names the two models ("bloom-7b_llama-7b"), 1 and 2
    are the better response, 0 and Tie a tie; anything else was not parsed, and is unscored.

    Parameters
    ----------
    path : path
        The file.
    judge : str
        Whose rows: a name, or a pattern ("expert_*").
    format : str, optional
        By default told by the first row.

    Returns
    -------
    list of PreferenceRow
        ``model_a``, output 1 or response 1 is the old side.

    Raises
    ------
    ConfigError
        All problems of the file at once, each with its line; or nobody of that name in it.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685; Zeng et al. (2024), Evaluating large language models at
    evaluating instruction following, arXiv:2310.07641; Wang et al. (2024), PandaLM,
    arXiv:2306.05087.

    Examples
    --------
    >>> rows = import_preferences("data/published/mt_bench/gpt4_pair.jsonl")
    >>> len(rows), sum(row.flipped for row in rows)
    (1200, 193)
    """
    file = Path(path)
    found = format or _told(file)
    if found not in _READERS:
        raise ConfigError(f'"{found}" is no format of preferences.{did_you_mean(found, _READERS)}')
    problems = Problems()
    made = list(_READERS[found](file, problems))
    problems.raise_any()
    if not made:
        raise ConfigError(Problem("holds no verdict", str(file)))
    kept = [row for row in made if fnmatchcase(row.judge, judge)]
    if not kept:
        known = list(dict.fromkeys(row.judge for row in made))
        more = f" and {len(known) - 5} more" if len(known) > 5 else ""
        raise ConfigError(
            Problem(
                f'holds nothing by "{judge}"; there is {", ".join(known[:5])}{more}.'
                f"{did_you_mean(judge, known)}",
                str(file),
            )
        )
    return kept


def _told(file: Path) -> str:
    first = read_text(file).lstrip().partition("\n")[0]
    if first.startswith("{") and all(f'"{name}"' in first for name in _MT_BENCH):
        return "mt_bench"
    columns = {cell.strip() for cell in first.split(",")}
    for name, wanted in (("llmbar", _LLMBAR), ("pandalm", _PANDALM)):
        if set(wanted) <= columns:
            return name
    raise ConfigError(
        Problem(
            f"is in no format of preferences that is known: mt_bench wants {', '.join(_MT_BENCH)} "
            f"in each line, llmbar the columns {', '.join(_LLMBAR)}, pandalm {', '.join(_PANDALM)}",
            str(file),
            1,
        )
    )


def _mt_bench(file: Path, problems: Problems) -> Iterator[PreferenceRow]:
    for row in read_jsonl(file):
        value = row.value
        missing = [name for name in _MT_BENCH if name not in value]
        if missing:
            problems.add(f"has no {', '.join(missing)}", file=file, line=row.line)
            continue
        winner, judge, turn = value["winner"], str(value["judge"]), value["turn"]
        if type(turn) is not int or turn < 1:
            problems.add(f"turn is {turn!r}; it wants 1 or more", file=file, line=row.line)
            continue
        if winner not in _WINNERS:
            problems.add(
                f'"{winner}" is no winner of MT-Bench.{did_you_mean(str(winner), _WINNERS)}',
                file=file,
                line=row.line,
            )
            continue
        flipped = winner == "tie (inconsistent)"
        yield PreferenceRow(
            case_id=str(value["question_id"]),
            repeat=turn - 1,
            criterion="preference",
            layer="outcome",
            old=str(value["model_a"]),
            new=str(value["model_b"]),
            outcome=_WINNERS[winner],
            reason="the two orders disagree" if flipped else "",
            by="source",
            # A pair judge was asked in both orders; people saw each pair once.
            flipped=flipped if flipped or judge.endswith("_pair") else None,
            flags=("position_flip",) if flipped else (),
            judge=judge,
            judge_digest=digest({"source": "mt_bench", "judge": judge}),
        )


def _llmbar(file: Path, problems: Problems) -> Iterator[PreferenceRow]:
    labels: dict[str, _Label] = {}
    reader = csv.DictReader(io.StringIO(read_text(file)), restval="")
    missing = [name for name in _LLMBAR if name not in (reader.fieldnames or ())]
    if missing:
        problems.add(f"has no column {', '.join(missing)}", file=file, line=1)
        return
    for value in reader:
        line = reader.line_num
        case_id = f"{value['subset']}-{value['i']}"
        wrong = [
            f'{name} holds "{value[name]}"; it wants 1 or 2'
            for name in ("label", "winner_original", "winner_swapped")
            if value[name] not in _OUTPUTS and (value[name] or name == "label")
        ]
        label = labels.setdefault(case_id, _Label(value["label"], line))
        if label.value != value["label"]:
            wrong.append(f'label of {case_id} is "{value["label"]}", on line {label.line} another')
        for text in wrong:
            problems.add(text, file=file, line=line)
        if not wrong:
            yield _llmbar_row(case_id, value)
    for case_id, label in labels.items():
        if label.value in _OUTPUTS:
            yield PreferenceRow(
                case_id=case_id, outcome=_OUTPUTS[label.value], judge=GOLD,
                judge_digest=digest({"source": "llmbar", "judge": GOLD}), **_LLMBAR_SIDES,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Label:
    value: str
    line: int


_LLMBAR_SIDES: dict[str, Any] = {
    "criterion": "instruction_following",
    "layer": "outcome",
    "old": "output_1",
    "new": "output_2",
    "by": "source",
}


def _llmbar_row(case_id: str, value: dict[str, str]) -> PreferenceRow:
    judge = f"{value['judge']} {value['prompt']}"
    orders = (_order("old", value["winner_original"]), _order("new", value["winner_swapped"]))
    outcome, reason, flipped = settle_orders(orders)
    return PreferenceRow(
        case_id=case_id,
        outcome=outcome,
        reason=reason,
        orders=orders,
        flipped=flipped,
        flags=("position_flip",) if flipped else (),
        judge=judge,
        judge_digest=digest({"source": "llmbar", "judge": judge}),
        **_LLMBAR_SIDES,
    )


def _order(first: Side, winner: str) -> OrderRecord:
    preferred = _OUTPUTS.get(winner)
    return OrderRecord(
        first=first, preferred=preferred, reason="" if preferred else "not parsed in the source"
    )


def _pandalm(file: Path, problems: Problems) -> Iterator[PreferenceRow]:
    reader = csv.DictReader(io.StringIO(read_text(file)), restval="")
    judges = [name for name in reader.fieldnames or () if name not in _PANDALM]
    for value in reader:
        models = value["cmp_key"].split("_")
        if len(models) != 2:
            problems.add(
                f'cmp_key holds "{value["cmp_key"]}"; it wants two models, joined by "_"',
                file=file,
                line=reader.line_num,
            )
            continue
        for judge in judges:
            said = value[judge]
            outcome = _RESPONSES.get(said)
            yield PreferenceRow(
                case_id=value["task"],
                criterion="preference",
                layer="outcome",
                old=models[0],
                new=models[1],
                outcome=outcome,
                reason="" if outcome else f'not parsed in the source: "{said}"',
                by="source",
                judge=judge,
                judge_digest=digest({"source": "pandalm", "judge": judge}),
            )


_READERS: dict[str, Callable[[Path, Problems], Iterator[PreferenceRow]]] = {
    "mt_bench": _mt_bench,
    "llmbar": _llmbar,
    "pandalm": _pandalm,
}
