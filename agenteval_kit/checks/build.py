"""From the keys that people write to the checks of one case.

May not load anything: tables, functions and schemas are handed in as `Resources`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agenteval_kit.checks.keys import KEYS, Settings
from agenteval_kit.checks.own import Own
from agenteval_kit.checks.resources import Resources
from agenteval_kit.checks.result import Check, Item, Rule
from agenteval_kit.errors import Problems
from agenteval_kit.records import CHECK_KEYS, Checks, Scenario

__all__ = ["build_checks"]

NO_CHECKS = Checks()
NO_RESOURCES = Resources()
_ORDER = {key: position for position, key in enumerate(CHECK_KEYS)}


def build_checks(
    item: Item,
    *,
    suite: Checks = NO_CHECKS,
    free_text: Collection[str] = (),
    resources: Resources = NO_RESOURCES,
) -> tuple[Check, ...]:
    """The checks of a case or scenario, in the order of the vocabulary.

    Parameters
    ----------
    item : Case or Scenario
        Its own key wins over the suite's key of the same name, also where it says nothing
        (``no_phone_numbers: false``). A scenario's invariants come last, as
        ``invariant: <name>``, and are critical.
    suite : Checks
        For every case.
    free_text : collection of str
        Paths of `expect` and `final_state` that are compared by substring.
    resources : Resources
        What the keys refer to.

    Returns
    -------
    tuple of Check
        Names are unique; a second check of the same name is ``name (2)``.

    Raises
    ------
    ConfigError
        If a function, table or schema was not handed in, or a schema or region is not one; all
        of them at once.
    """
    building = _Building(frozenset(free_text), resources, f'"{item.id}"')
    own, invariants, fields = _stated(item.checks), {}, {}
    if isinstance(item, Scenario):
        invariants = _stated(item.invariants)
        fields = {
            key: value
            for key, value in (("final_state", item.final_state), ("markers", item.markers))
            if value is not None
        }
    taken = own.keys() | invariants.keys() | fields.keys()
    from_suite = {key: value for key, value in _stated(suite).items() if key not in taken}
    strict = suite.strict if item.checks.strict is None else item.checks.strict
    where = {**(suite.where or {}), **(item.checks.where or {})}
    building.add({**from_suite, **own}, strict=strict, where=where, critical=item.critical)
    if isinstance(item, Scenario):
        building.add(fields, strict=strict, where=where, critical=item.critical)
        strict = strict if item.invariants.strict is None else item.invariants.strict
        where = {**where, **(item.invariants.where or {})}
        building.add(invariants, strict=strict, where=where, critical=True, prefix="invariant: ")
    building.problems.raise_any()
    return tuple(building.checks)


def _stated(checks: Checks) -> dict[str, Any]:
    return {key: getattr(checks, key) for key in checks.model_fields_set if key in _ORDER}


class _Building:
    """Gathers checks under unique names, and all that is wrong with what they refer to."""

    def __init__(self, free_text: frozenset[str], resources: Resources, what: str) -> None:
        self.free_text = free_text
        self.resources = resources
        self.what = what
        self.problems = Problems()
        self.checks: list[Check] = []
        self._taken: set[str] = set()

    def add(
        self,
        values: Mapping[str, Any],
        *,
        strict: bool | None,
        where: Mapping[str, Any],
        critical: bool,
        prefix: str = "",
    ) -> None:
        """Add the checks of each key that says something."""
        settings = Settings(
            self.what, self.free_text, bool(strict), where, self.resources, self.problems
        )
        for key in sorted(values, key=_ORDER.__getitem__):
            value = values[key]
            if not _says_something(key, value):
                continue
            if key == "python":
                self._add_own(value, prefix, critical)
                continue
            layer, make = KEYS[key]
            for name, rule in make(settings, value):
                self._put(prefix + name, layer, rule, critical)

    def _add_own(self, specs: Any, prefix: str, critical: bool) -> None:
        for spec in specs:
            what = f"python of {self.what}"
            function = self.resources.function(spec.call, what=what, problems=self.problems)
            if function is not None:
                name = prefix + (spec.name or f"python {spec.call}")
                self._put(name, spec.layer, Own(spec.call, function), critical)

    def _put(self, name: str, layer: str, rule: Rule, critical: bool) -> None:
        unique, count = name, 1
        while unique in self._taken:
            count += 1
            unique = f"{name} ({count})"
        self._taken.add(unique)
        self.checks.append(Check(unique, layer, rule, critical))


def _says_something(key: str, value: Any) -> bool:
    if key == "equals":
        return True
    if key == "tools_exact":
        return value is not None
    return value is not None and value is not False and value != [] and value != {}
