"""jsonschema is loaded without its grammar, and validates what it validated before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK_IRI = """
import sys
from agenteval_kit.json_schema import load_jsonschema
jsonschema = load_jsonschema()
assert "rfc3987_syntax" not in sys.modules
kind = jsonschema.Draft202012Validator
validator = kind({"format": "iri"}, format_checker=kind.FORMAT_CHECKER)
print([validator.is_valid(text) for text in ("https://example.com/é", "no iri")])
"""


def output_of(code: str, root: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_grammar_is_built_at_its_first_use_and_decides_as_before(root: Path) -> None:

    ours = output_of(CHECK_IRI, root)
    plain = output_of(
        CHECK_IRI.replace("load_jsonschema()", "__import__('jsonschema')").replace(
            'assert "rfc3987_syntax" not in', 'assert "rfc3987_syntax" in'
        ),
        root,
    )

    assert ours == plain == "[True, False]"


def test_whoever_wants_the_grammar_afterwards_gets_the_real_one(root: Path) -> None:

    made = output_of(
        "from agenteval_kit.json_schema import load_jsonschema\n"
        "load_jsonschema()\n"
        "import rfc3987_syntax\n"
        "print(hasattr(rfc3987_syntax, 'parse'))",
        root,
    )

    assert made == "True"


def test_a_module_that_is_loaded_already_is_given_as_it_is(root: Path) -> None:
    made = output_of(
        "import jsonschema\n"
        "from agenteval_kit.json_schema import load_jsonschema\n"
        "print(load_jsonschema() is jsonschema)",
        root,
    )

    assert made == "True"


@pytest.mark.parametrize(
    "code",
    [
        "import agenteval_kit.render",
        "from agenteval_kit.plots.parts import new_figure\n"
        "new_figure(height=200)._repr_mimebundle_()\n"
        "assert 'nbformat' in sys.modules",
    ],
    ids=["report", "figure"],
)
def test_neither_a_report_nor_a_figure_builds_the_grammar(code: str, root: Path) -> None:
    made = output_of(f"import sys\n{code}\nprint('rfc3987_syntax' in sys.modules)", root)

    assert made == "False"
