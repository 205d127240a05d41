"""People read transcripts: what is drawn to be read, one rater's session, and what they found.

May not show a rater anything of a judge or of another rater, and may not compute agreement. The
screen is `agenteval_kit.label.labeler`, which this package does not load.
"""

from agenteval_kit.label.session import Session

__all__ = ["Session"]
