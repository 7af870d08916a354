"""Hidden characters get a face, markup stays text, and what people write is left alone."""

import pytest

from coherence.report.inert import LONGEST_RUN, call_shown, plain, shown

SHOWN = {
    "nul": ("a\x00b", "a<i>NUL</i>b"),
    "ansi": ("\x1b[31mred\x1b[0m", "<i>ESC</i>[31mred<i>ESC</i>[0m"),
    "bidi-override": ("\u202efdp.exe", "<i>U+202E</i>fdp.exe"),
    "zero-width": ("pass\u200bword", "pass<i>U+200B</i>word"),
    "tag-character": ("\U000e0041", "<i>U+E0041</i>"),
    "surrogate": ("\ud800", "<i>U+D800</i>"),
    "c1": ("\x9b31m", "<i>U+009B</i>31m"),
    "line-separator": ("a\u2028b", "a<i>U+2028</i>b"),
    "delete": ("\x7f", "<i>DEL</i>"),
    "carriage-return": ("10%\r20%", "10%<i>CR</i>20%"),
    "windows-line-end": ("a\r\nb", "a\nb"),
    "two-in-a-row": ("\x00\x01", "<i>NUL</i><i>SOH</i>"),
    "markup": ("<b>&\"'", "&lt;b&gt;&amp;&#34;&#39;"),
    "entity": ("&lt;", "&amp;lt;"),
    "tab-and-newline": ("a\tb\nc", "a\tb\nc"),
    "arabic-hebrew-hindi": ("مرحبا שלום नमस्ते", "مرحبا שלום नमस्ते"),
    "emoji-family": ("👩‍👩‍👧 ❤️", "👩‍👩‍👧 ❤️"),
    "empty": ("", ""),
}


@pytest.mark.parametrize(("text", "expected"), SHOWN.values(), ids=SHOWN)
def test_shown_names_hidden_characters_and_escapes_markup(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_a_long_run_is_counted_instead_of_listed() -> None:
    assert shown("\x00" * 5000) == "<i>NUL and 4,999 more hidden characters</i>"


def test_the_longest_listed_run_is_listed() -> None:
    assert shown("\u200b" * LONGEST_RUN) == "<i>U+200B</i>" * LONGEST_RUN


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\x00\x1b[0m\x7f", "␀␛[0m␡"), ("a\u202eb", "a⟨U+202E⟩b"), ("\udfff", "⟨U+DFFF⟩"), ("<b>", "<b>")],
    ids=["controls", "bidi", "surrogate", "markup-is-left-to-escaping"],
)
def test_plain_keeps_text_a_plain_string(text: str, expected: str) -> None:
    assert plain(text) == expected


CALLS = {
    "line-ends": (r'"a\nb"', r"&#34;a\n<br>b&#34;"),
    "escaped-backslash-before-n": (r'"a\\nb"', r"&#34;a\\nb&#34;"),
    "escaped-backslash-then-line-end": (r'"a\\\nb"', r"&#34;a\\\n<br>b&#34;"),
    "keys": ('{"a": 1, "b": 2}', "{&#34;a&#34;: 1, <br>&#34;b&#34;: 2}"),
    "comma-in-a-string": ('{"a": "x, y: z"}', "{&#34;a&#34;: &#34;x, y: z&#34;}"),
    "markup": ('{"a": "<br>"}', "{&#34;a&#34;: &#34;&lt;br&gt;&#34;}"),
}


@pytest.mark.parametrize(("text", "expected"), CALLS.values(), ids=CALLS)
def test_a_call_is_broken_into_lines_without_a_change_of_its_text(text: str, expected: str) -> None:
    assert call_shown(text) == expected
