"""Finds the sections of the handbook that a question is about, by its words.

May not answer: it gives sections and how much of the question each one covers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "handbook"

STOP = frozenset(
    "a about after all also am an and any are as at back be been before but by can company could "
    "day days did do does far for from get give go going had has have hello help how i if in into "
    "is it its know let like long many may me much must my need no not of off on one or our out "
    "per please should so some take tell than thank thanks that the their them there they this "
    "three to today too two up us want was we were what when where which who why will with work "
    "would you your yours".split()
)

# What people say, and what the handbook says.
SYNONYMS = {
    "remote": "home",
    "sickness": "sick",
    "ill": "sick",
    "illness": "sick",
    "certificate": "note",
    "baby": "parental",
    "maternity": "parental",
    "paternity": "parental",
    "resign": "notice",
    "quit": "notice",
    "foreign": "abroad",
    "country": "abroad",
    "expens": "expense",
    "reimburse": "expense",
    "wages": "salary",
    "bully": "bullying",
    "harass": "harassment",
    "funeral": "death",
    "died": "death",
    "unus": "unused",
    "car": "mileage",
    "driv": "mileage",
    "paid": "pay",
    "extra": "double",
    "mother": "parent",
    "father": "parent",
}


@dataclass(frozen=True)
class Section:
    """One section of the handbook."""

    id: str
    title: str
    text: str


def load_sections(folder: Path = FOLDER) -> tuple[Section, ...]:
    """Read all sections, in the order of their numbers."""
    found: list[Section] = []
    for path in sorted(folder.glob("*.md")):
        for block in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            head, _, text = block.partition("\n")
            number, _, title = head.partition(" ")
            found.append(Section(number, title.strip(), " ".join(text.split())))
    return tuple(sorted(found, key=lambda section: [int(part) for part in section.id.split(".")]))


def search_sections(
    sections: tuple[Section, ...], query: str, *, limit: int = 3
) -> list[tuple[float, Section]]:
    """Rank sections by the share of the question's weight that they cover, from 0 to 1.

    A word weighs more the fewer sections have it, and twice as much if none has it: a question
    about something that the handbook does not know covers little, whatever else it says.
    """
    asked = _words(query)
    if not asked:
        return []
    words = {section.id: _words(f"{section.title} {section.text}") for section in sections}
    count = {word: sum(word in had for had in words.values()) for word in asked}
    weight = {
        word: math.log(1 + len(sections) / had) if had else 2 * math.log(1 + len(sections))
        for word, had in count.items()
    }
    total = sum(weight.values())
    ranked: list[tuple[float, float, Section]] = []
    for section in sections:
        shared = asked & words[section.id]
        # Between two sections that cover the same, the shorter one is more about it.
        dense = len(shared) / len(words[section.id])
        ranked.append((round(sum(weight[word] for word in shared) / total, 2), dense, section))
    ranked.sort(key=lambda item: (-item[0], -item[1]))
    return [(share, section) for share, _, section in ranked[:limit] if share > 0]


def _words(text: str) -> frozenset[str]:
    found = set()
    for word in re.findall(r"[a-z]+(?:-[a-z]+)*", text.casefold().replace("’", "'")):
        if word in STOP or len(word) < 3:
            continue
        stem = _stem(word)
        found.add(SYNONYMS.get(word) or SYNONYMS.get(stem) or stem)
    return frozenset(_stem(word) for word in found)


def _stem(word: str) -> str:
    for ending, stays in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + stays
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
