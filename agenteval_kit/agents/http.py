"""An agent behind an HTTP address.

May not guess: an answer that it cannot read is the agent's failure, or the network's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agenteval_kit.agents.plain import plain, plain_mapping, read_return, told_number
from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.models.agent import AgentReply, Item
from agenteval_kit.models.endpoint import endpoint_of
from agenteval_kit.models.secrets import scrub
from agenteval_kit.records import AgentStamps, Usage

__all__ = ["HTTPAgent", "HTTPAgentFailure"]


class HTTPAgentFailure(Exception):
    """The agent's server refused a request (4xx) or answered what is no answer."""


class HTTPAgent:
    """An agent that answers POST requests.

    It is sent ``{"messages": [...], "now": "...", "case_id": "...", "repeat": 0}`` and answers
    with one of ``messages`` (those it adds), ``text``, or ``output`` (the structured record), and
    with ``state``, ``events``, ``sources``, ``usage`` (calls, input_tokens, output_tokens),
    ``cost_usd`` and ``model`` where it has them. The JSON is strict (no NaN); a cost or a count
    that is no number of 0 or more is unknown, with a note. It is to keep nothing between two
    requests of different cases.

    Parameters
    ----------
    url : str
        Where it answers.
    stamps : AgentStamps
        Which agent this is.
    headers_env : mapping, optional
        Header name to the environment variable that holds its value.
    timeout : float
        Seconds for one answer.
    """

    plays_back = False
    shares_state = False
    timeout: float | None = None

    def __init__(
        self,
        url: str,
        *,
        stamps: AgentStamps,
        headers_env: Mapping[str, str] | None = None,
        timeout: float = 120.0,
    ) -> None:
        self.name = endpoint_of(url)
        self.stamps = stamps
        self.notes: tuple[str, ...] = ()
        self.said: tuple[dict[str, Any], ...] = ()
        self._url = url
        self._headers_env = dict(headers_env or {})
        self._timeout = timeout

    def fresh(self) -> HTTPAgent:
        """Itself: what it keeps between requests is not ours to reset."""
        return self

    def reset(self, case: Item, *, now: datetime | None = None) -> None:
        """Do nothing: every request carries the whole conversation."""

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, now: datetime, case: Item, repeat: int = 0
    ) -> AgentReply:
        """Ask the server.

        Raises
        ------
        InfrastructureError
            Connection errors, time-outs, 429, 5xx, and a web page where JSON was due.
        ConfigError
            401, 403, 404; a header's variable is not set.
        HTTPAgentFailure
            Another 4xx, or an answer that cannot be read.
        """
        sent = {"messages": [dict(one) for one in messages], "now": now.isoformat(),
                "case_id": case.id, "repeat": repeat}  # fmt: skip
        return self._read(self._post(json.dumps(plain(sent)).encode("utf-8")), messages)

    def _post(self, body: bytes) -> Any:
        # A quick start for the agents that need no HTTP.
        import http.client
        import urllib.error
        import urllib.request

        headers = {"Content-Type": "application/json", **self._headers()}
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                kind = answer.headers.get_content_type()
                content = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                said = scrub(error.read(300).decode("utf-8", "replace").strip())
            self._raise_status(error.code, said)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise InfrastructureError(
                f"{self.name}: the connection failed ({type(reason).__name__}: "
                f"{scrub(str(reason))}). Run the same command to resume"
            ) from None
        try:
            value = json.loads(content, parse_constant=_no_constant)
        except _NotFinite as error:
            raise HTTPAgentFailure(
                f"{self.name}: the answer is not JSON: {error} is no number there; null is"
            ) from None
        except (ValueError, RecursionError):
            if kind == "text/html":
                raise InfrastructureError(
                    f"{self.name}: a web page came where JSON was due; a proxy, perhaps. Run the "
                    "same command to resume"
                ) from None
            raise HTTPAgentFailure(f"{self.name}: the answer is not JSON") from None
        if not isinstance(value, dict):
            raise HTTPAgentFailure(
                f"{self.name}: the answer is a JSON {type(value).__name__}, not an object"
            )
        try:
            return plain(value)
        except ValueError as error:
            # 1e999 is read as infinity.
            raise HTTPAgentFailure(f"{self.name}: {error}") from None

    def _raise_status(self, status: int, said: str) -> None:
        told = f"{self.name}: HTTP {status}: {said}"
        if status in (408, 425, 429) or status >= 500:
            raise InfrastructureError(f"{told}. Run the same command to resume") from None
        if status in (401, 403, 404):
            raise ConfigError(f"{told}. Check url and headers_env of the agent") from None
        raise HTTPAgentFailure(told) from None

    def _headers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, variable in self._headers_env.items():
            value = os.environ.get(variable)
            if not value:
                raise ConfigError(
                    f"{self.name}: the header {name} wants the environment variable {variable}, "
                    "which is not set"
                )
            found[name] = value
        return found

    def _read(self, value: dict[str, Any], given: Sequence[Mapping[str, Any]]) -> AgentReply:
        if isinstance(value.get("messages"), list):
            base = read_return(value["messages"], given)
        elif isinstance(value.get("text"), str):
            base = read_return(value["text"], given)
        elif isinstance(value.get("output"), dict):
            base = read_return(value["output"], given)
        else:
            raise HTTPAgentFailure(
                f"{self.name}: the answer has none of messages, text and output; it has "
                f"{', '.join(sorted(value)) or 'nothing'}"
            )
        self.said = base.messages
        state, usage = value.get("state"), value.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        model = value.get("model")
        cost, notes = told_number(value.get("cost_usd"), "cost_usd")
        counts = {}
        for name in ("calls", "input_tokens", "output_tokens"):
            counts[name], more = told_number(usage.get(name), f"usage.{name}", whole=True)
            notes += more
        return AgentReply(
            messages=base.messages,
            output=value.get("output", base.output),
            state=None if state is None else plain_mapping(state, "state"),
            events=self._list(value, "events"),
            sources=self._list(value, "sources"),
            usage=Usage(
                calls=counts["calls"] or (1 if usage else 0),
                input_tokens=counts["input_tokens"],
                output_tokens=counts["output_tokens"],
            ),
            cost_usd=cost,
            model_served=model if isinstance(model, str) else None,
            notes=notes,
        )

    def _list(self, value: dict[str, Any], name: str) -> tuple[Any, ...]:
        found = value.get(name) or []
        if not isinstance(found, list):
            raise HTTPAgentFailure(
                f"{self.name}: {name} is a JSON {type(found).__name__}, not a list"
            )
        return tuple(found)


class _NotFinite(ValueError):
    """NaN or Infinity, which Python's reader takes and strict JSON does not have."""


def _no_constant(text: str) -> Any:
    raise _NotFinite(text)
