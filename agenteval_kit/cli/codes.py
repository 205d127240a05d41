"""Exit codes: what a script may rely on.

May not decide which one applies.
"""

PASS, FAIL, BROKEN, INCOMPLETE = 0, 1, 2, 3
"""Pass or SHIP; a case failed, HOLD or REVIEW; configuration broken, nothing was scored;
incomplete, the same command resumes."""
