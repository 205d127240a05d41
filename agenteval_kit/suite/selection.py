"""Which cases of a suite a run covers: by id, by tag, by shard.

May not read files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem, did_you_mean
from agenteval_kit.runs import Selection
from agenteval_kit.suite.items import Item

__all__ = ["select"]


def select(items: Sequence[Item], wanted: Selection, file: Path) -> list[Item]:
    """The cases that a filter keeps.

    Raises
    ------
    ConfigError
        If a filter names nothing that is there, or keeps nothing.
    """
    only, tag, shard = wanted.only, wanted.tag, wanted.shard
    kept = list(items)
    if only is not None:
        known = {item.id for item in items}
        unknown = [name for name in only if name not in known]
        if unknown:
            raise ConfigError(
                [
                    Problem(f'--only: no case "{name}".{did_you_mean(name, known)}', str(file))
                    for name in unknown
                ]
            )
        kept = [item for item in kept if item.id in set(only)]
    if tag is not None:
        tags = {name for item in items for name in item.tags}
        kept = [item for item in kept if tag in item.tags]
        if not kept:
            raise ConfigError(
                Problem(
                    f'nothing was evaluated: no case has the tag "{tag}".{did_you_mean(tag, tags)}',
                    str(file),
                )
            )
    if shard is not None:
        part, of = _shard(shard)
        kept = kept[part - 1 :: of]
        if not kept:
            raise ConfigError(Problem(f"nothing was evaluated: shard {shard} is empty", str(file)))
    return kept


def _shard(text: str) -> tuple[int, int]:
    part, _, of = text.partition("/")
    if not (part.isdigit() and of.isdigit() and 1 <= int(part) <= int(of)):
        raise ConfigError(f'--shard "{text}" wants i/n with 1 <= i <= n, like 2/5')
    return int(part), int(of)
