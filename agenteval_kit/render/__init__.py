"""Notebooks executed with checked parameters, and rendered to one page that works offline.

May not decide anything: the notebook calls the package, and this reads the verdict it wrote.
"""

from agenteval_kit.json_schema import load_jsonschema

# Before nbformat and papermill, which would build a grammar for a second.
load_jsonschema()

from agenteval_kit.render.notebook import execute_notebook, find_notebook  # noqa: E402
from agenteval_kit.render.release import ReleaseReport, render_release, require_ours  # noqa: E402

__all__ = [
    "ReleaseReport",
    "execute_notebook",
    "find_notebook",
    "render_release",
    "require_ours",
]
