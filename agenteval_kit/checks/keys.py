"""Each key of the vocabulary turned into rules: its layer, and one named rule an entry.

May not load anything: what a key refers to is looked up in `Resources`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from agenteval_kit.checks import conversation, grounding, outcome, policy, trajectory
from agenteval_kit.checks.contacts import known_region
from agenteval_kit.checks.resources import Resources
from agenteval_kit.checks.result import Rule, clip
from agenteval_kit.errors import Problems

__all__ = ["KEYS", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the keys of one set of checks share."""

    what: str
    free_text: frozenset[str]
    strict: bool
    where: Mapping[str, Any]
    resources: Resources
    problems: Problems


def _quote(text: str) -> str:
    return f'"{clip(text, limit=80)}"'


def _loose(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


Rules = Iterator[tuple[str, Rule]]
Maker = Callable[[Settings, Any], Rules]


def _expect(s: Settings, value: dict[str, Any]) -> Rules:
    for path, wanted in value.items():
        yield f"expect.{path}", outcome.Expect(path, wanted, path in s.free_text, s.strict)


def _equals(s: Settings, value: Any) -> Rules:
    yield "equals", outcome.Equals(value, s.strict)


def _must_include(s: Settings, value: list[str]) -> Rules:
    where = s.where.get("must_include", "final")
    for phrase in value:
        yield f"must_include {_quote(phrase)}", outcome.MustInclude(phrase, where)


def _must_not_include(s: Settings, value: list[str]) -> Rules:
    where = s.where.get("must_not_include", "every")
    for phrase in value:
        yield f"must_not_include {_quote(phrase)}", outcome.MustNotInclude(phrase, where)


def _matches(s: Settings, value: list[str]) -> Rules:
    where = s.where.get("matches", "final")
    for pattern in value:
        yield f"matches {_quote(pattern)}", outcome.Matches(re.compile(pattern), where)


def _must_not_match(s: Settings, value: list[str]) -> Rules:
    where = s.where.get("must_not_match", "final")
    for pattern in value:
        yield f"must_not_match {_quote(pattern)}", outcome.MustNotMatch(re.compile(pattern), where)


def _json_schema(s: Settings, value: Any) -> Rules:
    validator = s.resources.validator(value, what=f"json_schema of {s.what}", problems=s.problems)
    if validator is not None:
        title = value if isinstance(value, str) else "the schema"
        yield "json_schema", outcome.Schema(validator, title)


def _required_fields(_: Settings, value: list[str]) -> Rules:
    for path in value:
        yield f"required_fields.{path}", outcome.RequiredField(path)


def _final_state(s: Settings, value: dict[str, Any]) -> Rules:
    for path, wanted in value.items():
        rule = outcome.FinalState(path, wanted, path in s.free_text, s.strict)
        yield f"final_state.{path}", rule


def _recorded_reward(_: Settings, value: float) -> Rules:
    yield "recorded_reward", outcome.RecordedReward(value)


def _tools(_: Settings, value: list[str]) -> Rules:
    yield "tools", trajectory.Tools(tuple(value))


def _tools_exact(_: Settings, value: list[str]) -> Rules:
    yield "tools_exact", trajectory.ToolsExact(tuple(value))


def _tools_any_order(_: Settings, value: list[str]) -> Rules:
    yield "tools_any_order", trajectory.ToolsAnyOrder(tuple(value))


def _no_tools(_: Settings, value: bool) -> Rules:
    yield "no_tools", trajectory.NoTools()


def _forbidden_tools(_: Settings, value: list[str]) -> Rules:
    yield "forbidden_tools", trajectory.ForbiddenTools(tuple(value))


def _max_calls(_: Settings, value: dict[str, int]) -> Rules:
    for tool, most in value.items():
        yield f"max_calls.{tool}", trajectory.MaxCalls(tool, most)


def _max_identical_calls(_: Settings, value: int) -> Rules:
    yield "max_identical_calls", trajectory.MaxIdenticalCalls(value)


def _before(_: Settings, value: list[tuple[str, str]]) -> Rules:
    for first, second in value:
        yield f"before {first}, {second}", trajectory.Before(first, second)


def _arguments(s: Settings, value: dict[str, dict[str, Any]]) -> Rules:
    for tool, schema in value.items():
        what = f"arguments.{tool} of {s.what}"
        validator = s.resources.validator(schema, what=what, problems=s.problems)
        if validator is not None:
            yield f"arguments.{tool}", trajectory.Arguments(tool, validator)


def _not_null(_: Settings, value: dict[str, list[str]]) -> Rules:
    for tool, names in value.items():
        yield f"not_null.{tool}", trajectory.NotNull(tool, tuple(names))


def _markers(_: Settings, value: list[str]) -> Rules:
    yield "markers", trajectory.Markers(tuple(value))


def _approval(_: Settings, value: Any) -> Rules:
    yield "approval", trajectory.Approved(tuple(value.before), _loose(value.when))


def _cited_ids(s: Settings, value: Any) -> Rules:
    known = s.resources.known_ids(value.within, what=f"cited_ids of {s.what}", problems=s.problems)
    if known is not None:
        where = s.where.get("cited_ids", "final")
        yield "cited_ids", grounding.CitedIds(re.compile(value.pattern), known, where)


def _figures_traceable(s: Settings, value: bool) -> Rules:
    where = s.where.get("figures_traceable", "final")
    yield "figures_traceable", grounding.FiguresTraceable(where)


def _read_back(_: Settings, value: dict[str, Any]) -> Rules:
    for path, fact in value.items():
        yield f"read_back.{path}", grounding.ReadBack(path, fact)


def _forbidden_patterns(s: Settings, value: list[Any]) -> Rules:
    where = s.where.get("forbidden_patterns", "every")
    for spec in value:
        name = f"forbidden_patterns {_quote(spec.name or spec.pattern)}"
        yield name, policy.ForbiddenPattern(_loose(spec.pattern), where)


def _no_phone_numbers(s: Settings, value: bool | str) -> Rules:
    where = s.where.get("no_phone_numbers", "every")
    find = policy.find_phone_numbers
    if isinstance(value, str):
        if not known_region(value):
            s.problems.add(
                f'no_phone_numbers of {s.what} wants true or a region of two letters such as "IN", '
                f'but holds "{value}"'
            )
        find = partial(policy.find_phone_numbers, region=value)
    yield "no_phone_numbers", policy.NoSuchSpan("phone number", find, where)


def _no_emails(s: Settings, value: bool) -> Rules:
    where = s.where.get("no_emails", "every")
    yield "no_emails", policy.NoSuchSpan("e-mail address", policy.find_emails, where)


def _promises(s: Settings, value: bool | list[str]) -> Rules:
    where = s.where.get("promises", "every")
    if isinstance(value, list):
        yield "promises", policy.NoSuchWording("promise", tuple(value), where)
    else:
        yield "promises", policy.NoSuchSpan("promise", policy.find_promises, where)


def _must_refuse(s: Settings, value: Any) -> Rules:
    where = s.where.get("must_refuse", "final")
    if value is True:
        yield "must_refuse", policy.MustRefuse(where=where)
    else:
        when = None if value.when is None else _loose(value.when)
        yield "must_refuse", policy.MustRefuse(when, tuple(value.phrases or ()), where)


def _must_not_refuse(s: Settings, value: bool) -> Rules:
    yield "must_not_refuse", policy.MustNotRefuse(s.where.get("must_not_refuse", "final"))


def _claims(s: Settings, value: dict[str, str]) -> Rules:
    where = s.where.get("claims", "every")
    for pattern, tool in value.items():
        yield f"claims {_quote(pattern)}", policy.Claims(_loose(pattern), tool, where)


def _asks_at_most(_: Settings, value: dict[str, Any]) -> Rules:
    for name, spec in value.items():
        yield f"asks_at_most.{name}", conversation.AsksAtMost(_loose(spec.pattern), spec.n)


def _asks_after_given(_: Settings, value: dict[str, Any]) -> Rules:
    for name, spec in value.items():
        rule = conversation.AsksAfterGiven(_loose(spec.ask), _loose(spec.given))
        yield f"asks_after_given.{name}", rule


def _limit(name: str, kind: Callable[[Any], Rule]) -> Maker:
    def make(_: Settings, value: Any) -> Rules:
        yield name, kind(value)

    return make


KEYS: Final[dict[str, tuple[str, Maker]]] = {
    "expect": ("outcome", _expect),
    "equals": ("outcome", _equals),
    "must_include": ("outcome", _must_include),
    "must_not_include": ("outcome", _must_not_include),
    "matches": ("outcome", _matches),
    "must_not_match": ("outcome", _must_not_match),
    "json_schema": ("outcome", _json_schema),
    "required_fields": ("outcome", _required_fields),
    "final_state": ("outcome", _final_state),
    "recorded_reward": ("outcome", _recorded_reward),
    "tools": ("trajectory", _tools),
    "tools_exact": ("trajectory", _tools_exact),
    "tools_any_order": ("trajectory", _tools_any_order),
    "no_tools": ("trajectory", _no_tools),
    "forbidden_tools": ("trajectory", _forbidden_tools),
    "max_calls": ("trajectory", _max_calls),
    "max_identical_calls": ("trajectory", _max_identical_calls),
    "before": ("trajectory", _before),
    "arguments": ("trajectory", _arguments),
    "not_null": ("trajectory", _not_null),
    "markers": ("trajectory", _markers),
    "approval": ("trajectory", _approval),
    "cited_ids": ("grounding", _cited_ids),
    "figures_traceable": ("grounding", _figures_traceable),
    "read_back": ("grounding", _read_back),
    "forbidden_patterns": ("policy", _forbidden_patterns),
    "no_phone_numbers": ("policy", _no_phone_numbers),
    "no_emails": ("policy", _no_emails),
    "promises": ("policy", _promises),
    "must_refuse": ("policy", _must_refuse),
    "must_not_refuse": ("policy", _must_not_refuse),
    "claims": ("policy", _claims),
    "asks_at_most": ("conversation", _asks_at_most),
    "asks_after_given": ("conversation", _asks_after_given),
    "max_turns": ("conversation", _limit("max_turns", conversation.MaxTurns)),
    "max_words": ("conversation", _limit("max_words", conversation.MaxWords)),
    "max_chars": ("conversation", _limit("max_chars", conversation.MaxChars)),
    "max_tokens": ("conversation", _limit("max_tokens", conversation.MaxTokens)),
    "max_cost_usd": ("conversation", _limit("max_cost_usd", conversation.MaxCost)),
    "max_seconds": ("conversation", _limit("max_seconds", conversation.MaxSeconds)),
}
"""Layer and maker of every key but `python`, which brings its own layer."""
