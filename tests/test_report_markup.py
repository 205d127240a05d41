"""Markup, tables, marks and signs for hidden characters: nothing that comes in can act."""

from __future__ import annotations

import html.parser
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.report.marks import interval_mark, share_mark, used_scale
from agenteval_kit.report.markup import Html, Part, anchor, badge, join, tag, text, with_code
from agenteval_kit.report.sheet import style_sheet
from agenteval_kit.report.tables import Column, facts, frame_table, table
from agenteval_kit.stats.estimate import Estimate, estimates_html
from agenteval_kit.visible import printable, shorten_paths, show_hidden

HALF = Estimate(0.5, 0.4, 0.6, 40)


class Elements(html.parser.HTMLParser):
    """Which elements and attributes a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(markup: Html) -> Elements:
    found = Elements()
    found.feed(str(markup))
    found.close()
    return found


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_any_text_stays_text(raw: str) -> None:
    made = tag("p", {"title": raw, "data-name": raw}, raw)

    found = seen(made)

    assert set(found.names) <= {"p", "span"}
    assert set(found.attributes) <= {"title", "data-name", "class"}


@given(st.text())
def test_ordinary_text_reads_as_it_came(raw: str) -> None:
    if show_hidden(raw) != raw:
        return

    assert html.unescape(str(text(raw))) == raw


def test_only_html_passes_as_it_is() -> None:
    assert str(tag("p", None, "<b>", Html("<i>x</i>"), None)) == "<p>&lt;b&gt;<i>x</i></p>"


def test_none_and_false_leave_an_attribute_out_and_true_gives_its_name() -> None:
    made = tag("input", {"a": None, "b": False, "checked": True, "colspan": 1, "value": 'x"y'})

    assert str(made) == '<input checked colspan="1" value="x&quot;y">'


def test_parts_are_joined_with_something_between() -> None:
    assert str(join(["a<", None, Html("<b>c</b>")], between=" & ")) == "a&lt; &amp; <b>c</b>"


def test_a_notebook_shows_html_without_typesetting_dollars() -> None:
    shown = Html("<p>$x$</p>")._repr_html_()

    assert shown == '<div class="agenteval mathjax_ignore tex2jax_ignore"><p>$x$</p></div>'
    assert repr(Html("<p>$x$</p>")) == "Html(10 characters)"


def test_places_of_different_names_differ_and_of_one_name_do_not() -> None:
    assert anchor("t", "a b") != anchor("t", "a_b") != anchor("t", "a-b")
    assert anchor("t", "a b") != anchor("t", "a?b")
    assert anchor("t", "a b", 3) == anchor("t", "a b", 3)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", anchor("t", '"><script>', "ü"))


def test_a_status_is_told_by_word_and_sign_not_by_colour_alone() -> None:
    assert str(badge("pass")) == '<span class="badge ok">✓ pass</span>'
    assert str(badge("cannot tell")) == '<span class="badge mid">? cannot tell</span>'
    assert str(badge("fail", words="policy")) == '<span class="badge no">✗ policy</span>'
    assert str(badge("judge only")) == '<span class="badge plain">judge only</span>'


# Signs for what acts or hides.


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b31m", "⟦U+009B⟧31m"),
        ("abc\u202edef", "abc⟦U+202E⟧def"),
        ("\u2066x\u2069", "⟦U+2066⟧x⟦U+2069⟧"),
        ("zero\u200bwidth", "zero⟦U+200B⟧width"),
        ("tag\U000e0041", "tag⟦U+E0041⟧"),
        ("lone\ud800", "lone⟦U+D800⟧"),
        ("line\r\nline\ttab", "line\nline\ttab"),
        ("alone\r", "alone␍"),
        ("👩\u200d🚀 and می\u200cخواهم", "👩\u200d🚀 and می\u200cخواهم"),
    ],
)
def test_hidden_characters_show(raw: str, shown: str) -> None:
    assert show_hidden(raw) == shown


def test_a_sign_says_what_it_stands_for() -> None:
    assert str(text("a\u202e<")) == (
        'a<span class="hidden" title="right-to-left override">⟦U+202E⟧</span>&lt;'
    )


@pytest.mark.parametrize(
    ("raw", "encoding", "shown"),
    [
        ("\x1b[2J", "utf-8", r"\x1b[2J"),
        ("a\u202eb", "utf-8", r"a\u202eb"),
        ("✓ naïve", "ascii", r"\u2713 na\xefve"),
        ("✓ naïve", "latin-1", r"\u2713 naïve"),
        ("\U000e0041", "utf-8", r"\U000e0041"),
        ("two\r\nlines\tand a tab", "ascii", "two\nlines\tand a tab"),
    ],
)
def test_a_terminal_gets_nothing_that_acts_or_cannot_be_printed(
    raw: str, encoding: str, shown: str
) -> None:
    assert printable(raw, encoding=encoding) == shown


@given(st.text(alphabet=st.characters(exclude_categories=[])), st.sampled_from(["ascii", "cp1252"]))
def test_whatever_comes_can_be_printed(raw: str, encoding: str) -> None:
    shown = printable(raw, encoding=encoding)

    shown.encode(encoding)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


def test_a_traceback_loses_the_folders_of_its_machine() -> None:
    raw = (
        'File "/home/someone/project/agent.py", line 3 in /srv/x/y.py and C:\\Users\\me\\a.py: 3/4'
    )

    assert shorten_paths(raw) == 'File "…/agent.py", line 3 in …/y.py and …/a.py: 3/4'
    assert shorten_paths("see https://example.com/a/b") == "see https://example.com/a/b"


# Tables.


def test_a_table_has_a_caption_and_scopes() -> None:
    made = str(table(["case", Column("share", "number")], [("a", "1 %")], caption="Cases."))

    assert "<caption><span>Cases.</span></caption>" in made
    assert '<th scope="col">case</th><th scope="col" class="number">share</th>' in made
    assert '<th scope="row">a</th><td class="number">1 %</td>' in made
    assert made.startswith('<div class="scroll" tabindex="0">')


def test_an_unknown_cell_says_so() -> None:
    made = str(table(["a", "b"], [("x", None)], caption=""))

    assert '<td class="unknown">not known</td>' in made


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Cases in which a tool was called. The rest is here.",
         "Cases in which a tool was called: no call."),
        ("", "No call."),
        (tag("b", None, "Tools."), "<b>Tools.</b> No call."),
    ],
)  # fmt: skip
def test_a_table_without_rows_is_one_sentence_and_no_headings(caption: Part, said: str) -> None:
    made = str(table(["a", "b"], [], caption=caption, empty="no call"))

    assert made == f'<p class="note">{said}</p>'


def test_an_empty_frame_is_one_sentence() -> None:
    frame = pd.DataFrame(columns=["dimension", "n", "p_holm"])

    made = str(frame_table(frame, caption="Judged dimensions, new minus old.", empty="none judged"))

    assert made == '<p class="note">Judged dimensions, new minus old: none judged.</p>'


def test_no_word_of_a_frame_or_a_field_heads_a_table_for_readers() -> None:
    frame = frame_table(pd.DataFrame({"p_holm": [0.5], "diag": ["n = 1"]}), caption="Made.")
    estimates = estimates_html({"kappa_quadratic": Estimate(0.5, 0.4, 0.6, 12, diag="n = 12")})

    for made in (str(frame), estimates):
        assert "doubts</th>" in made
        assert ">diag<" not in made
    assert "kappa quadratic</th>" in estimates


def test_pipes_backticks_and_markup_leave_a_table_whole() -> None:
    hostile = "|`</td></tr></table><script>x</script>|"

    found = seen(table(["a", "b"], [(hostile, hostile)], caption=hostile))

    assert found.names.count("td") == 1
    assert "script" not in found.names
    assert found.text.count(hostile) == 3


def test_a_row_of_another_width_is_a_mistake_of_the_page() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells for 2 columns"):
        table(["a", "b"], [("x",)], caption="")


def test_cells_are_named_where_a_narrow_screen_stacks_them() -> None:
    drawn = Column(tag("b", None, "share"), "figure", label="share passed")
    columns = ["layer", Column("n", "number"), drawn, "why"]

    made = str(table(columns, [("policy", "3", "|", ""), ("all", "3", "|", "so")], caption=""))

    assert '<table class="stacks">' in made
    assert '<td class="number" data-label="n">3</td>' in made
    assert '<td class="figure" data-label="share passed">|</td><td></td>' in made


def test_many_cells_with_sentences_need_more_room_than_many_numbers() -> None:
    numbers: list[Column | str] = ["layer", *(Column(name, "number") for name in "abcde")]
    sentences: list[Column | str] = [*numbers[:-1], Column("what to know", "prose")]

    assert '<table class="stacks">' in str(table(numbers, [["1"] * 6], caption=""))
    assert '<table class="stacks broad">' in str(table(sentences, [["1"] * 6], caption=""))


def test_tables_with_sentences_stand_as_cards_in_a_wider_room_too() -> None:
    sheet = style_sheet()
    # A number at the end of a card stands beside the others; a sentence has the whole width.
    assert re.search(r"td:last-child:not\(\.number, ?\.figure\)", sheet)

    (narrow, wide) = re.findall(r"@container \(max-width: (\d+)px\)", sheet)
    assert int(narrow) < int(wide)
    assert sheet.index("> table.stacks {") < sheet.index("> table.broad {")


def test_words_in_ticks_are_code_and_still_escaped() -> None:
    assert str(with_code("run `a <b>` first")) == "run <code>a &lt;b&gt;</code> first"
    assert str(with_code("one ` alone")) == "one ` alone"


def test_a_frame_is_shown_with_its_gaps_named() -> None:
    frame = pd.DataFrame({"name": ["<b>", None], "share": [0.12345, None], "n": [1, 2]})

    made = str(frame_table(frame, caption="A frame."))

    assert '<th scope="row">&lt;b&gt;</th><td class="number">0.123</td>' in made
    assert made.count("not known") == 2
    assert '<th scope="col" class="number">n</th>' in made


def test_a_column_in_which_nothing_stands_is_left_out_and_a_name_reads_as_words() -> None:
    frame = pd.DataFrame({"layer": ["a", ""], "diag": ["", ""], "drop_not_ruled_out": [None, 0.1]})

    made = seen(frame_table(frame, caption="A frame.")).text

    assert "doubts" not in made
    assert "drop not ruled out" in made


def test_facts_name_what_is_not_known() -> None:
    made = str(facts([("cost", None), ("run", "<r>")]))

    assert "<dt>cost</dt><dd>not known</dd>" in made
    assert "<dt>run</dt><dd>&lt;r&gt;</dd>" in made


# Marks.


def test_an_interval_is_said_in_words_too() -> None:
    made = str(interval_mark(HALF, Estimate(0.7, 0.6, 0.8, 40), bar=0.9))

    assert (
        'aria-label="this release 0.50 (0.40 to 0.60); baseline 0.70 (0.60 to 0.80); bar 0.9"'
        in made
    )
    # Half of the scale lies in the middle of 190 pixels; the bar at 10 + 0.9 * 170.
    assert 'cx="95.0"' in made
    assert 'class="bar" x1="163.0"' in made


def test_a_column_of_marks_is_drawn_on_the_part_of_the_scale_in_use() -> None:
    high = Estimate(0.914, 0.776, 0.970, 35)

    assert used_scale([high, Estimate(1.0, 0.9, 1.0, 35)]) == (0.7, 1.0)
    assert used_scale([high], bars=[0.65]) == (0.6, 1.0)
    assert used_scale([Estimate(1.0, 0.98, 1.0, 400)]) == (0.8, 1.0)
    assert used_scale([Estimate(0.0, 0.0, 0.02, 400)]) == (0.0, 0.2)
    assert used_scale([Estimate.undefined("nothing was scored")]) == (0.0, 1.0)


def test_an_undefined_estimate_is_not_drawn() -> None:
    made = str(interval_mark(Estimate.undefined("nothing was scored")))

    assert "circle" not in made
    assert "not computable: nothing was scored" in made


def test_a_share_of_nothing_is_drawn_empty() -> None:
    assert 'class="part" x="0" y="3" width="0"' in str(share_mark(0, 0))
