"""docs/labelling.md: its examples run in their order, and its tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from label_runs import RUBRIC, open_session, talk_run
from verdicts import judge

from agenteval_kit.label import SIZES
from agenteval_kit.records.labels import LABEL_KINDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "labelling.md"


def test_the_examples_run_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = judge(talk_run(tmp_path, 40), {f"case-{at:03d}": 1 + at % 4 for at in range(40)})
    folder = tmp_path / "data" / "labels" / "support"
    with open_session(run, folder, "cleo", rubric=None, dimensions=None) as session:
        session.failure("Gives no address.")
        session.failure("no street named")
    open_session(run, tmp_path / "from-ben" / "labels", "ben").close()
    names: dict[str, object] = {"run": run, "rubric": RUBRIC}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

    for block in blocks:
        exec(block, names)

    assert len(blocks) >= 4
    assert len(names["sample"].items) == 30  # type: ignore[attr-defined]
    assert [one.name for one in names["modes"].modes] == ["address missing"]  # type: ignore[attr-defined]
    assert "DRAFT" in (tmp_path / "rubric.yaml").read_text(encoding="utf-8")


def test_every_kind_of_line_and_every_size_is_told() -> None:
    text = PAGE.read_text(encoding="utf-8")

    kinds = re.findall(r"^\| `(\w+)` \|", text.partition("## The lines")[2], re.MULTILINE)
    assert kinds == list(LABEL_KINDS)
    assert f"{SIZES['tuning']} transcripts: enough" in text
    assert f'`purpose="calibration"` | {SIZES["calibration"]}, and those must be fresh' in text
