"""Fills a prompt's placeholders in one pass: what a value contains is never a placeholder.

May not know what the prompt is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agenteval_kit.errors import ConfigError, did_you_mean

__all__ = ["check_placeholders", "fill", "placeholders"]

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def placeholders(template: str) -> list[str]:
    """Names between double braces, in order."""
    return _PLACEHOLDER.findall(template)


def check_placeholders(template: str, known: Iterable[str], *, what: str = "the prompt") -> None:
    """Refuse a template that names what nothing fills, before anything is paid for.

    Raises
    ------
    ConfigError
        With the nearest right name.
    """
    names = set(known)
    for name in placeholders(template):
        if name not in names:
            raise ConfigError(
                f"{what} names {{{{{name}}}}}, which nothing fills.{did_you_mean(name, names)}"
            )


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its values.

    Raises
    ------
    ConfigError
        If it names what is not among the values.
    """
    check_placeholders(template, values)
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)
