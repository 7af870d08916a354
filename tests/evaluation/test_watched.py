from dataclasses import dataclass

import pytest
from msgspec.structs import replace
from watched_samples import RUNS, SETTINGS, numbers, row, runs, words

from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.watched import looks_of, watched


@dataclass(frozen=True)
class Expected:
    fate: str
    flagged_after: int | None = None
    gain: int | None = None
    waited: int | None = None
    left: int | None = None
    known: bool = True
    wavered: bool = False


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("in-time", Expected("flagged", 4, gain=1, waited=1, left=6, wavered=True)),
        ("hindsight", Expected("unflagged", waited=0)),
        ("retracted", Expected("flagged", 4, left=8, wavered=True)),
        ("clean", Expected("unflagged")),
        ("cannot-say", Expected("unjudged", known=False)),
        ("after-a-gap", Expected("flagged", 6, gain=2, waited=0, left=4, wavered=True)),
        ("short", Expected("unflagged")),
        ("whole-unjudged", Expected("flagged", 4, left=4, known=False, wavered=True)),
        ("unknown", Expected("flagged", 2, gain=0, waited=0, left=6, wavered=True)),
        ("not-placed", Expected("unflagged", known=False)),
    ],
)
def test_what_is_made_of_a_run(name: str, expected: Expected) -> None:
    run = runs()[name]
    assert run.simulated == "made up"
    assert Expected(
        run.fate, run.flagged_after, run.gain, run.waited, run.steps_left, run.is_known, run.wavered
    ) == (expected)


def test_a_gap_before_the_flag_is_counted_and_one_after_it_is_not() -> None:
    assert runs()["after-a-gap"].unjudged_before == 1
    later = words("x", 8, "F?-")
    (run,) = watched(
        [row("x", "failed", "F", 2)],
        {"set": {"judge": later}},
        {"set": {"x": Timeline(numbers(8), ())}},
        SETTINGS,
    )
    assert (run.unjudged, run.unjudged_before, run.fate) == (1, 0, "flagged")


def test_of_several_samples_the_majority_counts() -> None:
    one = words("x", 6, "F-")
    two, three = ([replace(word, sample=sample) for word in words("x", 6, "-F")] for sample in (1, 2))
    assert [look.state for look in looks_of([*one, *two, *three])] == ["unflagged", "flagged"]


def test_runs_left_out_of_comparisons_are_not_watched() -> None:
    left_out = replace(row("x", "failed", "F", 2), excluded="superseded")
    timelines = {"set": {"x": Timeline(numbers(8), ())}}
    assert list(watched([left_out], {"set": {"judge": words("x", 8, "F")}}, timelines, SETTINGS)) == []


def test_every_run_is_watched_once() -> None:
    assert list(runs()) == list(RUNS)
