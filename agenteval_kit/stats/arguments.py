"""What may be handed to a statistic: whole counts, finite numbers, a known word.

It may not load numpy or scipy: the gate counts without them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex

from agenteval_kit.errors import ConfigError, did_you_mean


def whole(what: str, value: SupportsIndex | SupportsFloat, *, least: int = 0) -> int:
    """A count as a Python integer, whatever kind of number it came as.

    Numbers of numpy have 8 to 64 bits and wrap round silently in squares and powers.

    Raises
    ------
    ConfigError
        If it is no whole number, or below `least`.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        try:
            real = math.nan if isinstance(value, str) else float(value)
        except (TypeError, ValueError):
            real = math.nan
        if not real.is_integer():
            raise ConfigError(f"{what}: needs a whole number, got {value!r}.") from None
        number = int(real)
    if number < least:
        raise ConfigError(f"{what}: needs {least} or more, got {number}.")
    return number


def finite(what: str, value: float, *, low: float = -math.inf, high: float = math.inf) -> float:
    """A number as a Python float, between two ends (which are allowed).

    Raises
    ------
    ConfigError
        If it is not finite, or outside.
    """
    number = float(value)
    if not (math.isfinite(number) and low <= number <= high):
        wanted = "a finite number"
        if low > -math.inf:
            wanted += f" of {low:g} or more" if high == math.inf else f" from {low:g} to {high:g}"
        raise ConfigError(f"{what}: needs {wanted}, got {number:g}.")
    return number


def one_of(what: str, value: str, known: Iterable[str]) -> None:
    """Refuse a word that is none of those known: it would silently mean the other one.

    Raises
    ------
    ConfigError
        If it is not among them.
    """
    words = list(known)
    if value not in words:
        raise ConfigError(
            f"{what}: got {value!r}, wanted {' or '.join(words)}.{did_you_mean(value, words)}"
        )
