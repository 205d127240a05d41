"""The first and the last resort: a new suite that works, and what is wrong on this machine.

May not evaluate anything.
"""

from agenteval_kit.scaffold.doctor import Finding, doctor
from agenteval_kit.scaffold.new import new_suite

__all__ = ["Finding", "doctor", "new_suite"]
