"""Files are read strictly, and written so that a kill costs one line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.errors import ConfigError
from agenteval_kit.files import (
    Appender,
    canonical_json,
    digest,
    read_json,
    read_jsonl,
    read_yaml,
    repair_tail,
    write_atomic,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"a": 1}\n{"a": NaN}\n', 2, "NaN is not a number that can be scored"),
        ('{"a": -Infinity}\n', 1, "-Infinity is not a number that can be scored"),
        ('{"a": 1e999}\n', 1, "1e999 is too large for a number"),
        ('{"a": 1, "a": 2}\n', 1, 'key "a" stands twice; keep one'),
        ('{"a": 1}\n\n[1]\n', 3, "holds list; each line wants one JSON object"),
        ('{"a": 1}\n{"a": \n', 2, "is not JSON"),
        ("{" + '"a":' * 3 + "\n", 1, "is not JSON"),
        ('{"a": ' + "[" * 100_000 + "\n", 1, "is nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}\n", 1, "a number has too many digits"),
    ],
)
def test_a_faulty_line_is_told_with_its_number(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        list(read_jsonl(path))

    (problem,) = caught.value.problems
    assert problem.line == line
    assert said in problem.message


def test_all_faulty_lines_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": }\n{"b": 1}\n\xff\xfe\n[]\n')

    with pytest.raises(ConfigError) as caught:
        list(read_jsonl(path))

    assert [problem.line for problem in caught.value.problems] == [1, 3, 4]


def test_a_torn_last_line_is_dropped_with_a_warning_only_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": 2')
    warnings: list[str] = []

    rows = [row.value for row in read_jsonl(path, torn="drop", warn=warnings)]

    assert rows == [{"a": 1}]
    assert warnings == [f"{path}:2: the last line was torn and is dropped"]
    with pytest.raises(ConfigError, match="is not JSON"):
        list(read_jsonl(path))


def test_bom_and_crlf_are_read_and_lines_still_count(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\r\n')

    rows = list(read_jsonl(path))

    assert [(row.value["a"], row.line) for row in rows] == [(1, 1), (2, 3)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("id: 001", "001"),
        ("id: 1", 1),
        ("on: no", "no"),
        ("day: 2026-03-02", "2026-03-02"),
        ("time: 12:30", "12:30"),
        ("n: 1.5", 1.5),
        ("n: 1e3", 1000.0),
        ("yes: true", True),
        ("none: null", None),
        ("none: ~", None),
        ("none:", None),
        ("hex: 0x1F", "0x1F"),
        ("under: 1_000", "1_000"),
        ('quoted: "true"', "true"),
    ],
)
def test_yaml_values_are_what_a_reader_sees(tmp_path: Path, text: str, value: Any) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text + "\n")

    read = next(iter(read_yaml(path).value.values()))

    assert read == value
    assert type(read) is type(value)


def test_yaml_lines_are_known_for_every_key_and_item(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\nb:\n  c: [x,\n      y]\n  d: 2\n")

    document = read_yaml(path)

    assert document.line("b", "c", 1) == 4
    assert document.line("b", "d") == 5
    assert document.line("b", "missing") == 2


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 'key "a" stands twice, first on line 1; keep one'),
        ("a: .nan\n", 1, ".nan is not a number that can be scored"),
        ("a: .inf\n", 1, ".inf is not a number that can be scored"),
        ("a: [1\nb: 2\n", 2, "is not YAML"),
        ("? [a, b]\n: 1\n", 1, "a key must be plain text"),
        ("a: !!python/object:os.system x\n", 1, "cannot be read"),
    ],
)
def test_faulty_yaml_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_yaml(path)

    assert (caught.value.problems[0].line, said in caught.value.problems[0].message) == (line, True)


@pytest.mark.parametrize(
    ("text", "line"), [('{\n"a": NaN\n}', 2), ('{\n"a": 1,\n"b": 2,\n"a": 3}', 4), ('{\n"a" 1}', 2)]
)
def test_faulty_json_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_json(path)

    assert caught.value.problems[0].line == line


@given(JSON)
def test_a_digest_ignores_key_order_and_nothing_else(value: Any) -> None:
    def turned(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(list(item))}
        return [turned(one) for one in item] if isinstance(item, list) else item

    assert digest(turned(value)) == digest(value)
    assert digest([value]) != digest(value)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_what_is_appended_is_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.touch()
    appender = Appender(path)

    appender.append(rows)
    appender.close()

    assert [row.value for row in read_jsonl(path)] == rows


@given(st.integers(0, 60), st.lists(st.dictionaries(st.text(max_size=5), JSON), max_size=4))
def test_a_file_cut_anywhere_keeps_every_whole_row_and_takes_new_ones(
    tmp_path_factory: pytest.TempPathFactory, cut: int, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.touch()
    first = Appender(path)
    first.append([{"n": number} for number in range(5)])
    first.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    # A cut just before the newline leaves whole JSON, which is kept too.
    kept += cut < len(whole) and whole[cut : cut + 1] == b"\n"

    second = Appender(path)
    second.append(rows)
    second.close()

    read = [row.value for row in read_jsonl(path)]
    assert read == [{"n": number} for number in range(kept)] + rows


def test_a_lone_surrogate_of_a_model_is_kept(tmp_path: Path) -> None:
    appender = Appender(tmp_path / "rows.jsonl")

    appender.append([{"text": "a\ud800b"}])
    appender.close()

    assert [row.value for row in read_jsonl(tmp_path / "rows.jsonl")] == [{"text": "a\ud800b"}]


def test_nan_is_never_written(tmp_path: Path) -> None:
    appender = Appender(tmp_path / "rows.jsonl")

    with pytest.raises(ValueError, match="not JSON compliant"):
        appender.append([{"n": float("nan")}])
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("inf"))


def test_a_long_torn_tail_is_cut_without_reading_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = json.dumps({"text": "x" * 300_000})
    path.write_text(f"{row}\n{row[:-5]}")

    said = repair_tail(path)

    assert said == f"{path}: the last line was torn and is dropped"
    assert path.read_text() == f"{row}\n"


def test_a_replaced_file_is_the_old_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write_atomic(path, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space.*run.json'$"):
        write_atomic(path, "new")
    appender = Appender(tmp_path / "rows.jsonl", sync=True)
    with pytest.raises(OSError, match="No space.*rows.jsonl'$"):
        appender.append([{}])
    appender.close()

    appender.path.unlink()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_that_leads_back_to_itself_cannot_be_written(tmp_path: Path) -> None:
    link = tmp_path / "loop.json"
    link.symlink_to(link)

    with pytest.raises(OSError, match="leads back to itself"):
        write_atomic(link, "new")
