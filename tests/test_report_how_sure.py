"""'How sure' says what a figure is of where it is no share of cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import make_run
from test_report_sections import release, words

from agenteval_kit import report
from agenteval_kit.records.bars import Bar


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ({"at_least": 0.9, "pass_all": 3}, "outcome pass^3 50 % (bar 90 %)"),
        ({"at_least": 0.9, "unit": "assertions"}, "outcome assertions 83 % (bar 90 %)"),
        ({"at_least": 0.95}, "outcome 83 % (bar 95 %)"),
    ],
)
def test_a_rate_that_is_no_share_of_cases_is_named_so(
    tmp_path: Path, clause: dict[str, Any], said: str
) -> None:
    steady, flaky = [{"outcome": True}] * 3, [{"outcome": True}, {"outcome": True}]
    cases = {f"c{at}": steady if at % 2 else [*flaky, {"outcome": False}] for at in range(40)}
    run = make_run(tmp_path, cases)

    told = words(report.show_verdict(release(run, bar=Bar(pass_rate={"outcome": clause}))))

    assert said in told
