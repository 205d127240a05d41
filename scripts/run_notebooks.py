"""Executes every notebook with its own defaults and writes the pages to reports/.

May not change a notebook. Ends with 1 when one fails, after the others have run.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from agenteval_kit.errors import AgentEvalError
from agenteval_kit.render import execute_notebook

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run those that are named on the command line, or all of them."""
    paths = [Path(name) for name in sys.argv[1:]] or sorted((ROOT / "notebooks").glob("*.ipynb"))
    failed = 0
    for path in paths:
        started = time.perf_counter()
        page = Path("reports") / f"{path.stem}.html"
        try:
            execute_notebook(path, out_html=page)
        except AgentEvalError as error:
            failed += 1
            print(f"FAILED  {path.name}: {error}")
        else:
            print(f"ok      {path.name}  {time.perf_counter() - started:.0f} s  {page}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
