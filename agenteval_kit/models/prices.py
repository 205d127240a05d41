"""What tokens cost, as data with a date; what is not listed is unknown, never 0.

May not ask anybody for a price.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import read_yaml

__all__ = ["Price", "price_of", "read_prices"]

_SHIPPED = Path(__file__).with_name("prices.yaml")
_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4})$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one million tokens, and the day on which that was read."""

    input: float
    output: float
    as_of: str

    def cost(self, input_tokens: int | None, output_tokens: int | None) -> float | None:
        """US dollars; None where a count is unknown."""
        if input_tokens is None or output_tokens is None:
            return None
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


def price_of(
    model: str, *, endpoint: str = "api.openai.com/v1", prices: Mapping[str, Price] | None = None
) -> Price | None:
    """The price of a model, by its name with or without a date; None if it is not known.

    The shipped list is of OpenAI's own server: the same name on another endpoint is another
    product, so its price is unknown unless `prices` is given.
    """
    if prices is None:
        if endpoint.split("/")[0] != "api.openai.com":
            return None
        prices = read_prices(_SHIPPED)
    return prices.get(model) or prices.get(_DATED.sub("", model))


@lru_cache(maxsize=8)
def read_prices(path: Path) -> Mapping[str, Price]:
    """Prices by model from a YAML file shaped like the shipped one.

    Raises
    ------
    ConfigError
        If an entry is not a pair of numbers that are not negative.
    """
    document = read_yaml(path)
    value = document.value if isinstance(document.value, dict) else {}
    found: dict[str, Price] = {}
    for name, entry in (value.get("models") or {}).items():
        try:
            price = Price(float(entry["input"]), float(entry["output"]), str(value["as_of"]))
        except (KeyError, TypeError, ValueError):
            price = Price(-1, -1, "")
        if price.input < 0 or price.output < 0:
            raise ConfigError(
                Problem(
                    f'"{name}" wants input and output in dollars for a million tokens, and the '
                    "file an as_of",
                    str(path),
                    document.line("models", name),
                )
            )
        found[name] = price
    return found
