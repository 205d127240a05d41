"""Loads the jsonschema library without a second of work that hardly anyone needs.

May not validate anything.
"""

from __future__ import annotations

import sys
from types import ModuleType

__all__ = ["load_jsonschema"]

GRAMMAR = "rfc3987_syntax"


def load_jsonschema() -> ModuleType:
    """The module `jsonschema`, with the grammar for the format "iri" built at its first use.

    Where JupyterLab is installed, importing jsonschema (and so nbformat and papermill, which
    import it) builds that grammar, which takes a second: longer than a small suite takes to
    check. Import those after a call of this function.
    """
    if "jsonschema" not in sys.modules and GRAMMAR not in sys.modules:
        stand_in = ModuleType(GRAMMAR)
        stand_in.is_valid_syntax = _is_valid_syntax  # type: ignore[attr-defined]
        sys.modules[GRAMMAR] = stand_in
        try:
            import jsonschema
        finally:
            # Whoever else wants the grammar gets the real one.
            del sys.modules[GRAMMAR]
    else:
        import jsonschema
    return jsonschema


def _is_valid_syntax(term: str, value: str) -> bool:
    try:
        from rfc3987_syntax import is_valid_syntax
    except ImportError:
        # Not installed: then jsonschema, too, takes any text for an IRI.
        return True
    return bool(is_valid_syntax(term, value))
