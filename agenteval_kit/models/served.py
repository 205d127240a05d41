"""The OpenAI-compatible model that a file names by its address or a variable that holds it.

May not ask it anything.
"""

from __future__ import annotations

import os

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.limits import Meter
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.tape import Tape

__all__ = ["served_model"]

USUAL = "OPENAI_BASE_URL"


def served_model(
    name: str,
    who: str,
    *,
    base_url: str | None = None,
    base_url_env: str | None = None,
    api_key_env: str | None = None,
    tape: Tape | None = None,
    timeout: float = 120.0,
    max_concurrency: int = 32,
    meter: Meter | None = None,
) -> OpenAIModel:
    """A model ready to be asked, at the address that the file or its variable names.

    Parameters
    ----------
    name : str
        The model, as its server calls it.
    who : str
        For complaints: "the agent", "the judge", "the simulated user".

    Raises
    ------
    ConfigError
        If a variable of one's own is named and not set: without it, what is meant for one's own
        server would be sent to another's.
    """
    address = base_url
    if base_url_env is not None:
        address = os.environ.get(base_url_env) or address
        if address is None and base_url_env != USUAL:
            raise ConfigError(
                f"{who} {name} is served where the environment variable {base_url_env} says, "
                "which is not set; set it, or write base_url"
            )
    return OpenAIModel(
        name,
        base_url=address or os.environ.get(USUAL),
        api_key_env=api_key_env or "OPENAI_API_KEY",
        tape=tape,
        timeout=timeout,
        max_concurrency=max_concurrency,
        meter=meter,
    )
