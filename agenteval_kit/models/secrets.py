"""Keeps secrets and this machine's paths out of what is written down.

May not find secrets that it was not told of: it knows the values of the environment.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

__all__ = ["scrub", "without_paths"]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH", re.IGNORECASE)
_USER_INFO = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/@\s]+@", re.IGNORECASE)


def scrub(text: str, *, also: tuple[str | None, ...] = ()) -> str:
    """The text without the values of secret environment variables and without user info in URLs.

    Parameters
    ----------
    text : str
        An error message, a traceback.
    also : tuple of str
        Further secrets: a key that was given in the code.
    """
    secrets = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    secrets |= {one for one in also if one}
    for secret in sorted(secrets, key=len, reverse=True):
        # Short values ("1", "true", "none") are no secrets and stand in half of all texts.
        if len(secret) >= 8:
            text = text.replace(secret, "[secret]")
    return _USER_INFO.sub(r"\1", text)


def without_paths(text: str) -> str:
    """The text with folders of this machine cut off the files that it names."""
    import tempfile  # twenty modules for one folder name, and only where something failed

    folders = {os.getcwd(), str(Path.home()), sys.prefix, sys.base_prefix, tempfile.gettempdir()}
    for folder in sorted((one for one in folders if len(one) > 1), key=len, reverse=True):
        text = re.sub(re.escape(folder) + r"/(?:[^\s'\":]*/)?", "", text)
    return text
