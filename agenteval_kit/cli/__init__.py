"""The command line: each command is a thin call of a public function.

The only place with exit codes. Progress goes to stderr, results to stdout.
"""

from agenteval_kit.cli.main import main

__all__ = ["main"]
