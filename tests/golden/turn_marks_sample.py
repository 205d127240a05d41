"""Draws the agent turns that were read and marked in turn_marks.jsonl.

It may not mark a turn: the word search below finds turns to read, and the reader decides.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SEED = 20240515
PER_SET = 50
RECORDED = Path(__file__).parents[2] / "data" / "recorded"
AIRLINE = RECORDED / "tau_bench_airline" / "gpt-4o.jsonl"
RETAIL = RECORDED / "tau_bench_retail" / "tool_calling_with_preconditions.jsonl"

# Loose on purpose: a pre-filter as narrow as a check would hide what the check misses.
CANDIDATE = {
    "promise": r"\bwill\b|['’]ll\b|going to|shall|moment|receive|expect|business day|proceed",
    "claim": r"\b(have|has|been|was|were|is now|are now)\b|['’]ve\b|success|complete|done|"
    r"confirmed|all set|processed",
    "refusal": r"\bnot\b|n['’]t\b|cannot|unable|unfortunately|sorry|apolog|only|polic|must|"
    r"transfer|eligib|restrict",
    "phone": r"phone|\bcall\b|contact|hotline|support|human agent|\d{7,}|\d{3}[-. )]+\d{3}|"
    r"\d-8\d\d",
    "figure": r"\d\d",
    "ask_user_id": r"user id|e-?mail|zip|verify|authenticat|identity|account|full name",
    "ask_confirmation": r"confirm|proceed|go ahead|\byes\b|would you like|shall i|is that|correct",
}


@dataclass(frozen=True)
class Turn:
    """One agent turn with text, and where it stands."""

    source: str
    task_id: int
    trial: int
    turn: int
    text: str

    def place(self) -> tuple[str, int, int, int]:
        """Source, task, trial and index: the name of the turn."""
        return (self.source, self.task_id, self.trial, self.turn)

    def rank(self) -> str:
        """A seeded random key; it knows nothing of the kind, so the sets of kinds overlap."""
        key = ":".join(map(str, (SEED, *self.place())))
        return hashlib.sha256(key.encode()).hexdigest()


def read_turns(path: Path, *, source: str) -> list[Turn]:
    """All agent turns with text in the held-out part: airline trials 2 and 3, retail tasks 30-59.

    The index counts every message but the system message, tool results included.
    """
    turns = []
    # Not splitlines: it also breaks at U+2028 and U+0085, which may stand inside a JSON string.
    for line in path.read_text(encoding="utf-8").strip("\n").split("\n"):
        row = json.loads(line)
        held_out = (
            row["trial"] in (2, 3) if source == "airline" else row["task_id"] in range(30, 60)
        )
        if not held_out:
            continue
        messages = [m for m in row["traj"] if m["role"] != "system"]
        for index, message in enumerate(messages):
            text = message["content"] or ""
            if message["role"] == "assistant" and text.strip():
                turns.append(Turn(source, row["task_id"], row["trial"], index, text))
    return turns


def draw(turns: Iterable[Turn]) -> list[tuple[Turn, str, str]]:
    """The sample as (turn, kind, how): one uniform set for all kinds, one enriched set a kind.

    The enriched sets hold no turn of the uniform set.
    """
    ranked = sorted(turns, key=Turn.rank)
    uniform, rest = ranked[:PER_SET], ranked[PER_SET:]
    sample = []
    for kind, pattern in CANDIDATE.items():
        found = [turn for turn in rest if re.search(pattern, turn.text, re.IGNORECASE)]
        sample += [(turn, kind, "uniform") for turn in uniform]
        sample += [(turn, kind, "enriched") for turn in found[:PER_SET]]
    return sample


def faults_of(marks: Path, sample: list[tuple[Turn, str, str]]) -> list[str]:
    """What is wrong with a marks file: places not drawn or not marked, spans not in the turn."""
    drawn = {(*turn.place(), kind, how): turn for turn, kind, how in sample}
    faults = []
    seen = set()
    lines = marks.read_text(encoding="utf-8").strip("\n").split("\n")
    for number, line in enumerate(lines, start=1):
        row = json.loads(line)
        key = tuple(row[k] for k in ("source", "task_id", "trial", "turn", "kind", "how"))
        if key in seen or key not in drawn:
            faults.append(f"line {number}: {key} is marked twice or was not drawn")
        elif (row["span"] is not None) != row["mark"]:
            faults.append(f"line {number}: a span goes with a true mark, and only with one")
        elif row["mark"] and row["span"] not in drawn[key].text:
            faults.append(f"line {number}: the span {row['span']!r} is not in the turn")
        seen.add(key)
    return faults + [f"{key} was drawn and is not marked" for key in drawn if key not in seen]


def main() -> int:
    """Print the sample as JSON lines, or check a marks file against it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--airline", type=Path, default=AIRLINE)
    parser.add_argument("--retail", type=Path, default=RETAIL)
    parser.add_argument("--check", type=Path, help="a marks file to hold against the sample")
    args = parser.parse_args()
    for path in (args.airline, args.retail):
        if not path.is_file():
            parser.error(f"{path}: no such file; name the transcripts with --airline and --retail")
    turns = read_turns(args.airline, source="airline") + read_turns(args.retail, source="retail")
    sample = draw(turns)
    if args.check:
        faults = faults_of(args.check, sample)
        print("\n".join(faults) or f"{len(sample)} marks, no fault")
        return 1 if faults else 0
    for turn, kind, how in sample:
        keys = ("source", "task_id", "trial", "turn")
        print(json.dumps(dict(zip(keys, turn.place(), strict=True)) | {"kind": kind, "how": how}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
