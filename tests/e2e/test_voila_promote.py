"""The button that promotes a failure, clicked in a real browser: the draft stands on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from agenteval_kit.suite import load_suite, run_suite
from tests.e2e.labelling import browser, notebook_of, voila_at

pytestmark = [pytest.mark.browser, pytest.mark.lab, pytest.mark.slow]

CODE = """\
import os
from pathlib import Path

os.chdir({folder!r})

from agenteval_kit import Run
from agenteval_kit.suite.promote_button import promote_button

promote_button(Run.open(Path("data/runs/support")))
"""


def test_a_click_writes_the_draft_and_says_so(
    chromium: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agents", "bars", "rubrics", "scenarios", "suites"):
        shutil.copytree(root / "data" / name, tmp_path / "data" / name)
    monkeypatch.chdir(tmp_path)
    suite = load_suite("data/suites/support.yaml", agent="data/agents/support_v2.yaml")
    run_suite(suite, out=Path("data/runs/support"))
    notebook = notebook_of(CODE.format(folder=str(tmp_path)), tmp_path / "one" / "page.ipynb")
    drafts = tmp_path / "data" / "scenarios" / "support"

    with voila_at(notebook, tmp_path, root=root) as (address, _), sync_playwright() as playwright:
        page = browser(playwright, chromium).new_page()
        page.goto(address)
        page.get_by_role("combobox").select_option(index=1, timeout=60_000)
        page.get_by_role("button", name="Promote to a draft").click()
        told = page.get_by_role("status")
        told.wait_for(timeout=20_000)
        said = told.inner_text()

    assert 'scenario "refund-denied-policy", a draft' in said
    assert "fails on support/refund-denied/0" in said
    assert "draft: true" in (drafts / "refund-denied-policy.yaml").read_text()
