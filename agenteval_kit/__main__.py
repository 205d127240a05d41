"""`python -m agenteval_kit` is the command `agenteval`.

May hold nothing else.
"""

import sys

from agenteval_kit.cli import main

if __name__ == "__main__":
    sys.exit(main())
