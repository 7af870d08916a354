"""What each check finds in a pair of thoughts, and that nothing else is said of it."""

from time import process_time

import pytest
from rewriting_samples import FIRST, SECOND, transcript

from coherence.paraphrase.checks import PROBLEMS, Checked, check, checks, count_problems, tokens
from coherence.paraphrase.rewriting import Manipulation, Rewrite, Rewritten

BEFORE = "But run_tests took 12.5 s with `--fast` in /app/x.py, so I keep 3 workers."
AFTER = "run_tests took 12.5 s with `--fast` in /app/x.py; the number of workers is 3."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3 rows, 1,024 left, 12.5 s.", ("3", "1,024", "12.5")),
        ("`rm -rf x` then `y`", ("rm -rf x", "y")),
        ("in /app/out/a.txt, ../b and ~/c.", ("/app/out/a.txt", "../b", "~/c")),
        ("pass -v or --no-cache here", ("-v", "--no-cache")),
        ("my_name, camelCase, os.path.join", ("my_name", "camelCase", "os.path.join")),
        ("localhost:8080 at 2026-01-05", ("localhost:8080", "2026", "01", "05")),
        ("Plain words - and nothing else, e.g. none.", ()),
        ("3 and 3 and `3`", ("3",)),
        ("", ()),
    ],
)
def test_numbers_and_code_tokens(text: str, found: tuple[str, ...]) -> None:
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("before", "after", "manipulation", "problems"),
    [
        (BEFORE, AFTER, "paraphrase", ()),
        (BEFORE, None, "paraphrase", ("not rewritten",)),
        (SECOND, SECOND, "paraphrase", ("unchanged",)),
        (SECOND, SECOND, "cue removal", ()),
        (BEFORE, AFTER + " However.", "paraphrase", ("markers left",)),
        (BEFORE, AFTER.replace("12.5", "12.6"), "paraphrase", ("tokens lost", "tokens added")),
        (BEFORE, AFTER.replace("/app/x.py", "the file"), "paraphrase", ("tokens lost",)),
        (BEFORE, f"{AFTER} {AFTER}", "paraphrase", ("length",)),
        (BEFORE, "run_tests 12.5 `--fast` /app/x.py 3", "paraphrase", ("length",)),
        (BEFORE, "run_tests 12.5 `--fast` /app/x.py 3", "compression", ()),
        (BEFORE, AFTER, "compression", ("length",)),
        (BEFORE, "[reasoning removed]", "reasoning removed", ()),
        ("A 7.", "", "cue removal", ("length", "tokens lost")),
    ],
)
def test_problems(
    before: str, after: str | None, manipulation: Manipulation, problems: tuple[str, ...]
) -> None:
    assert check((2, 0), before, after, manipulation).problems == problems


def test_a_token_in_backticks_is_the_same_without_them() -> None:
    assert check((2, 0), "Use `POOL` and 8.", "POOL is used, and `8`.", "paraphrase").problems == ()


def test_what_was_not_rewritten_has_no_measures() -> None:
    found = check((2, 0), BEFORE, None, "paraphrase")
    assert (found.characters_after, found.ratio, found.markers_after, found.lost, found.added) == (None,) * 5
    assert (found.characters, found.markers) == (len(BEFORE), 1)


def test_every_thought_is_checked_and_a_missing_one_named() -> None:
    made = Rewritten("t1", "paraphrase", (Rewrite(2, 0, reason="truncated"),))
    found = checks(transcript(FIRST, SECOND), made)
    assert [(one.step, one.reason, one.problems) for one in found] == [
        (2, "truncated", ("not rewritten",)),
        (3, "missing", ("not rewritten",)),
    ]
    assert count_problems(found) == {**dict.fromkeys(PROBLEMS, 0), "not rewritten": 2}


def test_without_text_there_is_nothing_to_check_and_nothing_faultless() -> None:
    made = Rewritten("t1", "paraphrase", has_text=False)
    assert checks(transcript(FIRST), made) == ()
    assert not Checked(made, ()).is_faultless


@pytest.mark.parametrize("text", ["`" * 5_000, "a_" * 20_000, "/" * 20_000, "1." * 20_000, "-a" * 20_000])
def test_no_text_makes_it_slow(text: str) -> None:
    assert check((2, 0), text, text, "paraphrase").problems == ("unchanged",)


def test_a_log_full_of_numbers_takes_time_by_its_length() -> None:
    text = " ".join(map(str, range(30_000)))
    started = process_time()
    assert check((2, 0), text, text, "paraphrase").lost == ()
    assert process_time() - started < 3
