"""One body to one server through the `openai` client; what comes back, or what went wrong.

May not retry, and may not let the key out.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
from typing import Any

from agenteval_kit.models.blame import blame_of
from agenteval_kit.models.engine import Refused
from agenteval_kit.models.secrets import scrub
from agenteval_kit.models.wire import sound

__all__ = ["Sender", "close_client"]


def close_client(client: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Have a client's connections closed on the loop that they live on; does not wait.

    It may be called by the garbage collector, and so on that very loop.
    """
    if not loop.is_closed():
        loop.call_soon_threadsafe(lambda: asyncio.ensure_future(_close(client), loop=loop))


async def _close(client: Any) -> None:
    with contextlib.suppress(Exception):
        await client.close()


class Sender:
    """Sends one body and gives the bytes of a 200.

    Parameters
    ----------
    base_url, key : str
        Where, and with which key.
    timeout : float
        Seconds for the whole request.
    """

    def __init__(self, base_url: str, key: str, *, timeout: float) -> None:
        import openai  # half a second: only who asks a served model pays for it

        try:
            transport: Any = openai.DefaultAioHttpClient()
        except RuntimeError:
            transport = None
        client = openai.AsyncOpenAI(
            api_key=key, base_url=base_url, timeout=timeout, max_retries=0, http_client=transport
        )
        self.client = client
        self._errors = openai
        self._key = key
        self._timeout = timeout
        # The raw answer in the client's own HTTP library, whichever that is in this version:
        # our own reading takes half the time of the client's models and gives our own errors.
        roots = [kind.__module__.split(".")[0] for kind in type(client._client).__mro__]
        library = next(root for root in roots if root.startswith("httpx") and root.isidentifier())
        self._raw = importlib.import_module(library).Response

    async def __call__(self, body: dict[str, Any]) -> bytes:
        """Send, and give the bytes of a 200.

        Raises
        ------
        Refused
            For every other answer, and for none.
        """
        try:
            # The client's own limit is on each phase: a server that trickles would never be late.
            async with asyncio.timeout(self._timeout):
                answer = await self.client.post("/chat/completions", cast_to=self._raw, body=body)
                return bytes(answer.content)
        except self._errors.APIStatusError as error:
            raise self._refused(error) from None
        except UnicodeEncodeError:
            # Once only: what is sound encodes.
            return await self(sound(body))
        except TimeoutError:
            raise _late() from None
        except self._errors.APIConnectionError as error:
            broken = _broken(error)
            if broken is None and isinstance(error, self._errors.APITimeoutError):
                raise _late() from None
            raise self._unconnected(broken or error.__cause__ or error) from None
        except Exception as error:
            if blame_of(error) != "infrastructure":
                raise
            raise self._unconnected(error) from None

    def _unconnected(self, error: BaseException) -> Refused:
        text = scrub(f"{type(error).__name__}: {error}", also=(self._key,))
        return Refused("connection", f"the connection failed ({text})")

    def _refused(self, error: Any) -> Refused:
        body: Any = error.body
        if isinstance(body, dict) and "error" not in body:
            body = {"error": body}
        inner = body.get("error") if isinstance(body, dict) else None
        said = inner.get("message") if isinstance(inner, dict) else inner or body
        text = said if isinstance(said, str) else json.dumps(said, default=str)
        text = scrub(" ".join(text.split())[:300], also=(self._key,))
        return Refused(
            "status",
            f"HTTP {error.status_code}: {text}",
            status=error.status_code,
            headers=dict(error.response.headers),
            body=body,
        )


def _late() -> Refused:
    return Refused("late", "the provider did not answer in time")


def _broken(error: BaseException) -> BaseException | None:
    """The network's own error behind the client's.

    The client's aiohttp transport reports a refused connection as a time-out.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, OSError) and not isinstance(found, TimeoutError):
            return found
        found = found.__cause__ or found.__context__
    return None
