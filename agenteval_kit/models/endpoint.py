"""The part of a server's address that is in digests: no scheme, no key, no query.

May not connect.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.secrets import scrub

__all__ = ["OPENAI", "endpoint_of", "on_this_machine"]

OPENAI = "https://api.openai.com/v1"


def on_this_machine(url: str) -> bool:
    """Whether an address is of the loopback."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return host == "::1" or re.fullmatch(r"127(?:\.\d{1,3}){3}", host) is not None


def endpoint_of(url: str) -> str:
    """Host, port and path of a server: no scheme, no user info, no query.

    Raises
    ------
    ConfigError
        If it is no http or https address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = scrub(url.split("?")[0])
        raise ConfigError(f'base URL "{shown}" is no address; write it like {OPENAI}')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
