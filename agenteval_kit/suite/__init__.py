"""A suite: load it, run it, check it.

May not decide a release: `agenteval_kit.gate` does.
"""

from agenteval_kit.suite.execute import RunResult, check_run, run_suite
from agenteval_kit.suite.load import Suite, load_suite
from agenteval_kit.suite.state import Progress

__all__ = ["Progress", "RunResult", "Suite", "check_run", "load_suite", "run_suite"]
