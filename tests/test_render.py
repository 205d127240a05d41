"""Notebooks executed and rendered: checked parameters, honest failures, one page on its own."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import make_run, passes

from agenteval_kit.errors import AgentEvalError, ConfigError
from agenteval_kit.places import find_place
from agenteval_kit.records import AgentStamps
from agenteval_kit.release import read_release, read_verdict, save_verdict
from agenteval_kit.render import execute_notebook, find_notebook, render_release
from agenteval_kit.render.parameters import check_parameters, read_parameters
from agenteval_kit.render.release import _finding
from agenteval_kit.render.scrub import Scrubber

PARAMETERS = """\
name = "retail"  # which suite
n: int = 3  # how many
share = 0.5
quick = False
bar = None
"""


def notebook(path: Path, *cells: str, parameters: str | None = PARAMETERS) -> Path:
    made: list[dict[str, Any]] = [markdown("# A title\n\nFor whom.")]
    if parameters is not None:
        made.append({**code(parameters), "metadata": {"tags": ["parameters"]}})
    made += [code(cell) for cell in cells]
    for at, cell in enumerate(made):
        cell["id"] = f"cell-{at}"
    content = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": text, "outputs": [],
            "execution_count": None}  # fmt: skip


# Parameters.


def test_parameters_are_read_with_their_defaults(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb")

    assert read_parameters(path) == {
        "name": "retail", "n": 3, "share": 0.5, "quick": False, "bar": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "fitted"),
    [
        ("n", "7", 7),
        ("share", 1, 1.0),
        ("share", "0.25", 0.25),
        ("quick", "true", True),
        ("name", "007", "007"),
        ("name", Path("a/b"), "a/b"),
        ("bar", "x.yaml", "x.yaml"),
        ("bar", None, None),
    ],
)
def test_what_is_given_takes_the_type_of_the_default(
    tmp_path: Path, name: str, given: object, fitted: object
) -> None:
    path = notebook(tmp_path / "a.ipynb")

    made = check_parameters(path, {name: given})

    assert made == {name: fitted}
    assert type(made[name]) is type(fitted)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"nme": "x"}, 'a.ipynb: has no parameter "nme". Did you mean "name"?'),
        ({"n": "abc"}, "a.ipynb: parameter \"n\" got 'abc', wanted a whole number like 3"),
        ({"n": True}, 'a.ipynb: parameter "n" got True, wanted a whole number like 3'),
        ({"quick": "maybe"}, "a.ipynb: parameter \"quick\" got 'maybe', wanted true or false like "
         "False"),
        ({"name": 7}, "a.ipynb: parameter \"name\" got 7, wanted text like 'retail'"),
        ({"share": "half"}, "a.ipynb: parameter \"share\" got 'half', wanted a number like 0.5"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    tmp_path: Path, given: dict[str, object], complaint: str
) -> None:
    path = notebook(tmp_path / "a.ipynb")

    with pytest.raises(ConfigError) as caught:
        check_parameters(path, given)

    assert str(caught.value) == complaint


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb")

    with pytest.raises(ConfigError) as caught:
        check_parameters(path, {"nme": 1, "n": "abc"})

    assert len(caught.value.problems) == 2


def test_logic_in_the_parameters_cell_is_refused(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", parameters="import os\nname = os.getcwd()")

    with pytest.raises(ConfigError, match="line 1 of the parameters cell is not `name = literal`"):
        read_parameters(path)


def test_a_notebook_without_parameters_takes_none(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", parameters=None)

    assert read_parameters(path) == {}
    with pytest.raises(ConfigError, match='has no parameter "x"'):
        check_parameters(path, {"x": 1})


def test_what_is_no_notebook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text("[]")

    with pytest.raises(ConfigError, match="is not a notebook"):
        read_parameters(path)


# Finding.


def test_a_shipped_notebook_is_found_by_its_name() -> None:
    assert find_notebook("7_release").name == "7_release.ipynb"
    assert find_notebook("7_release.ipynb") == find_notebook("7_release")


def test_an_unknown_notebook_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        find_notebook("7_relase")

    assert str(caught.value) == 'there is no notebook "7_relase". Did you mean "7_release"?'


# Executing.


def test_an_executed_notebook_becomes_one_page(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "a.ipynb",
        "import sys\nprint(name, n, sys.executable)\nprint('progress', file=sys.stderr)",
        "from agenteval_kit.report import Html\nHtml('<table><caption>x</caption></table>')",
    )

    page = execute_notebook(
        path, parameters={"name": "triage", "n": "7"}, out_html=tmp_path / "out" / "a.html"
    )

    text = page.read_text(encoding="utf-8")
    assert "triage 7 " in text
    assert "<table><caption>x</caption></table>" in text
    assert "<title>A title</title>" in text
    assert "progress" not in re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)
    # The interpreter is the one that launched it, and its folder is not told.
    assert Path(sys.executable).name in text
    assert str(Path(sys.executable).parent) not in text
    executed = json.loads((tmp_path / "out" / "a.ipynb").read_text())
    assert "papermill" not in executed["metadata"]
    assert json.loads(path.read_text())["cells"][2]["outputs"] == []


def test_the_page_loads_nothing_and_runs_only_its_own_scripts(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "a.ipynb",
        "import plotly.graph_objects as go\n"
        "go.Figure(data=[{'type': 'scatter', 'y': [1, 2]}],"
        " layout={'title': {'text': 'A </script><script>x &lt;b&gt;'}})",
    )

    page = execute_notebook(path, out_html=tmp_path / "page.html")

    text = page.read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    policy = html.unescape(re.findall(r'Security-Policy" content="([^"]*)"', text)[0])
    digests = {
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    }
    assert len(scripts) == 2
    # The third is plotly.js, which stands packed on the page and comes out as it was installed.
    (packed,) = re.findall(r'id="plotly-packed">([^<]*)<', text)
    unpacked = gzip.decompress(base64.b64decode(packed))
    assert unpacked == pkgutil.get_data("plotly", "package_data/plotly.min.js")
    digests.add(f"'sha256-{base64.b64encode(hashlib.sha256(unpacked).digest()).decode()}'")
    assert digests == set(re.findall(r"'sha256-[^']*'", policy))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert 'role="img" aria-label="A &lt;/script&gt;&lt;script&gt;x &lt;b&gt;"' in text
    outside = re.sub(r"<script[ >].*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", outside)


def test_a_page_without_figures_carries_no_plotly(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "1 + 1")

    page = execute_notebook(path, out_html=tmp_path / "page.html")

    assert page.stat().st_size < 60_000


def test_code_is_folded_beside_its_output_or_last(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "print('said')")

    beside = execute_notebook(path, out_html=tmp_path / "c.html").read_text()
    last = execute_notebook(path, out_html=tmp_path / "b.html", code="last").read_text()

    assert beside.count('<details class="code') == 2
    assert last.count('<details class="code') == 1
    assert last.index('<pre class="stream">said') < last.index("The code that made this page")


def test_a_failed_cell_is_an_error_and_no_page(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "1 / 0", "print('never')")
    page = tmp_path / "a.html"
    page.write_text("an older verdict")

    with pytest.raises(AgentEvalError) as caught:
        execute_notebook(path, out_html=page, out_notebook=tmp_path / "ran.ipynb")

    assert str(caught.value) == (
        "a.ipynb: cell 3 failed with ZeroDivisionError: division by zero. "
        f"{tmp_path / 'ran.ipynb'} shows where; no page was written"
    )
    assert not page.exists()
    assert (tmp_path / "ran.ipynb").exists()


def test_what_a_person_can_mend_stays_a_configuration_error(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "a.ipynb",
        "from agenteval_kit.errors import ConfigError\nraise ConfigError('bar.yaml:3: mend me')",
    )

    with pytest.raises(ConfigError) as caught:
        execute_notebook(path, out_html=tmp_path / "page.html", out_notebook=tmp_path / "ran.ipynb")

    assert str(caught.value) == "bar.yaml:3: mend me"
    # Who ran the cell reads the words there, and no traceback around them.
    ran = json.loads((tmp_path / "ran.ipynb").read_text())
    (shown,) = [
        one["traceback"]
        for cell in ran["cells"]
        for one in cell.get("outputs", [])
        if one["output_type"] == "error"
    ]
    assert shown == ["bar.yaml:3: mend me"]


def test_a_hanging_cell_is_ended(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "import time\ntime.sleep(60)")

    with pytest.raises(AgentEvalError, match="a cell took more than 2 seconds"):
        execute_notebook(
            path, out_html=tmp_path / "b.html", out_notebook=tmp_path / "b.ipynb", timeout=2
        )


def test_the_notebook_itself_is_never_overwritten(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "1")

    with pytest.raises(ConfigError, match="would be overwritten by its executed copy"):
        execute_notebook(path, out_html=tmp_path / "a.html", out_notebook=path)


def test_a_notebook_saved_under_another_kernel_runs_on_this_one(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "print('ran')")
    content = json.loads(path.read_text())
    content["metadata"] = {"kernelspec": {"name": "gone", "display_name": "Gone"}}
    path.write_text(json.dumps(content))

    page = execute_notebook(path, out_html=tmp_path / "a.html", out_notebook=tmp_path / "x.ipynb")

    assert "ran" in page.read_text()


def test_a_kernel_leaves_no_socket_where_another_would_find_it(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    path = notebook(tmp_path / "a.ipynb", "import os; print(sorted(os.listdir()))")

    page = execute_notebook(path, out_html=tmp_path / "out" / "a.html")

    text = html.unescape(page.read_text())
    assert "['a.ipynb', 'out']" in text


# Scrubbing.


def test_folders_of_the_machine_become_short(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")

    scrubber = Scrubber.of_this_machine(known=[Path("/data/runs/new")])

    assert scrubber.clean(f"{tmp_path}/a.py") == "a.py"
    assert scrubber.clean("/data/runs/new and /home/someone/x") == "new and ~/x"
    assert scrubber.clean(f"{sys.prefix}/bin") == "python/bin"


def test_secrets_of_the_environment_are_taken_out(monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    monkeypatch.setenv("SHORT_TOKEN", "abc")

    cleaned = Scrubber.of_this_machine().clean({"a": ["abc sk-planted-0123456789"], "n": 3})

    assert cleaned == {"a": ["abc [removed: the value of OPENAI_API_KEY]"], "n": 3}


# Places.


def test_a_place_is_found_from_the_top_and_from_a_folder_below(
    tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "data" / "suites").mkdir(parents=True)
    (tmp_path / "data" / "suites" / "mine.yaml").write_text("")
    (tmp_path / "notebooks").mkdir()

    monkeypatch.chdir(tmp_path)
    from_top = find_place("data/suites/mine.yaml")
    monkeypatch.chdir(tmp_path / "notebooks")
    from_below = find_place("data/suites/mine.yaml")
    runs = find_place("data/runs", must_exist=False)

    assert from_top == Path("data/suites/mine.yaml")
    assert from_below == tmp_path / "data" / "suites" / "mine.yaml"
    assert runs == tmp_path / "data" / "runs"


def test_a_shipped_file_is_found_from_anywhere(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)

    assert find_place("data/suites/triage.yaml").is_file()
    assert find_place("data/runs", must_exist=False) == Path("data/runs")


def test_a_place_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "triage.yaml").write_text("")

    with pytest.raises(ConfigError) as caught:
        find_place("triag.yaml")

    assert str(caught.value) == (
        'triag.yaml: there is no such file or folder. Did you mean "triage.yaml"?'
    )
    assert find_place(tmp_path / "triage.yaml") == Path("triage.yaml")


# The release.


def test_the_report_says_what_the_gate_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", "sk-planted-0123456789")
    old = make_run(tmp_path, passes(60, 60), name="old")
    new = make_run(tmp_path, passes(60, 51), name="new")
    bar = tmp_path / "bar.yaml"
    bar.write_text("no_worse: {outcome: {margin: 0.05}}\n")

    made = render_release(new, baseline=old, bar=bar, out=tmp_path / "out" / "page.html")

    text = made.html.read_text(encoding="utf-8")
    assert made.verdict == "HOLD"
    assert json.loads(made.verdict_file.read_text())["verdict"] == "HOLD"
    assert "<b>HOLD</b>" in text
    assert "9 broken" in text
    # The heading is the finding, and the tab of a browser shows it first; the notebook, which is
    # opened to be run again, keeps its question.
    assert "<title>HOLD: new, release report</title>" in text
    assert re.findall("<h1>.*?</h1>", text) == [
        "<h1>HOLD: rules v1 may not ship (suite made 1)</h1>"
    ]
    assert "For the person who decides on a release" in text
    assert "# May this version be released?" in made.notebook.read_text()
    assert made.notebook.exists()
    assert made.files is None
    for said in (text, made.notebook.read_text(), made.verdict_file.read_text()):
        assert str(tmp_path) not in said
        assert f"{Path.home()}/" not in said
        assert "sk-planted" not in said


def test_without_a_bar_the_heading_says_so_and_a_name_is_text(tmp_path: Path) -> None:
    agent = AgentStamps(model="<b>m</b>", prompt="*v1*")
    run = make_run(tmp_path, passes(4, 4), agent=agent)

    made = render_release(run, out=tmp_path / "page.html")

    (heading,) = re.findall("<h1>.*?</h1>", made.html.read_text("utf-8"))
    assert heading == (
        "<h1>NO BAR: &lt;b&gt;m&lt;/b&gt; *v1* was not held to a bar (suite made 1)</h1>"
    )


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("SHIP", "SHIP: rules v1 may ship (suite made 1)"),
        ("REVIEW", "REVIEW: rules v1 may not ship yet (suite made 1)"),
    ],
)
def test_the_heading_says_the_verdict_in_words(tmp_path: Path, verdict: str, said: str) -> None:
    assert _finding(make_run(tmp_path, passes(4, 4)).path, verdict) == said


def test_a_bar_that_is_broken_stops_the_report(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))
    bar = tmp_path / "bar.yaml"
    bar.write_text("pass_rat: {outcome: 0.9}\n")

    with pytest.raises(ConfigError, match='bar.yaml:1: unknown key "pass_rat"'):
        render_release(run, bar=bar, out=tmp_path / "page.html")

    assert not (tmp_path / "page.html").exists()
    assert not (tmp_path / "page.verdict.json").exists()


def test_without_a_bar_there_is_a_page_and_no_verdict(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))

    page = read_release(run.path)
    save_verdict(page, tmp_path / "verdict.json")

    assert page.decision is None
    assert read_verdict(tmp_path / "verdict.json") is None


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"verdict": "MAYBE"}'])
def test_a_verdict_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "verdict.json"
    path.write_text(content)

    with pytest.raises(ConfigError, match=r"verdict\.json: "):
        read_verdict(path)


def test_a_verdict_of_an_earlier_report_is_never_read_again(tmp_path: Path) -> None:
    verdict = tmp_path / "page.verdict.json"
    verdict.write_text('{"verdict": "SHIP"}')

    with pytest.raises(ConfigError, match="there is no such file or folder"):
        render_release(tmp_path / "nowhere", out=tmp_path / "page.html")

    assert not verdict.exists()
