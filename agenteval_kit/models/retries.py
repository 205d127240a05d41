"""When a failed request is asked again, and how long to wait before.

May not wait or ask.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["Retries", "retry_after"]


@dataclass(frozen=True, slots=True)
class Retries:
    """How patient the engine is.

    Attributes
    ----------
    attempts : int
        Requests at most for one reply, where the provider fails (5xx, connection, nonsense).
    attempts_refused : int
        The same where it says 429.
    attempts_late : int
        The same where it does not answer within the time limit.
    first : float
        Seconds before the second attempt; doubled each time, with some jitter.
    longest : float
        Seconds at most between two attempts, also where Retry-After asks for more.
    """

    attempts: int = 5
    attempts_refused: int = 10
    attempts_late: int = 3
    first: float = 0.5
    longest: float = 60.0

    def wait(self, attempt: int, *, asked: float | None, seed: str) -> float:
        """Seconds before attempt number `attempt` (2, 3, ...).

        Parameters
        ----------
        attempt : int
            The attempt that comes next.
        asked : float or None
            What Retry-After asked for.
        seed : str
            Makes the jitter the same on every run; requests do not all come back at once.
        """
        if asked is not None:
            return min(asked, self.longest)
        pause = min(self.first * 2.0 ** (attempt - 2), self.longest)
        return pause * random.Random(f"{seed}/{attempt}").uniform(0.75, 1.25)


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds that the provider asks to wait.

    Reads ``retry-after-ms``, and ``retry-after`` as seconds or as an HTTP date (RFC 9110,
    section 10.2.3). A negative number, a date that is past and what cannot be read are as if
    nothing had been asked.
    """
    try:
        milliseconds = float(headers.get("retry-after-ms", ""))
        if 0 <= milliseconds < float("inf"):
            return milliseconds / 1000
    except ValueError:
        pass
    text = headers.get("retry-after")
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        until = _moment(text)
        if until is None:
            return None
        # The server's own clock, where it tells it: ours may differ, or be held by a suite.
        told = now or _moment(headers.get("date", "")) or datetime.now(UTC)
        seconds = (until - told).total_seconds()
    # NaN compares false with everything.
    return seconds if 0 <= seconds < float("inf") else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
