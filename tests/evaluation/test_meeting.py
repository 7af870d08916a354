"""Flags against bias between tasks and scatter within them."""

from pathlib import Path

import pandas as pd
import pytest
from msgspec.structs import replace

from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.meeting import Judges, Meeting, meetings
from coherence.evaluation.meeting_table import table
from coherence.evaluation.repeated import groups
from coherence.evaluation.table import Row, Verdict
from coherence.files import read_json, write_json
from coherence.incoherence.outcomes import conform

FLAGGED, UNFLAGGED = Verdict("flagged", spans=1), Verdict("unflagged")
FLAGGING = Judges(("judge",))
UNJUDGED = Verdict("unjudged", reason="refusal")
THOUGHTLESS = Verdict("unflagged", substrate="none")


def rows(tasks: dict[str, str], words: dict[str, str]) -> list[Row]:
    """`tasks` gives each attempt's outcome, `words` its verdict: f, u, ? unjudged, . without thoughts."""
    verdict = {"f": FLAGGED, "u": UNFLAGGED, "?": UNJUDGED, ".": THOUGHTLESS}
    return [
        Row(
            f"{task}-{place}",
            "set",
            task,
            str(place),
            {"x": "failed", "o": "passed", "?": "unknown"}[outcome],  # type: ignore[arg-type]
            "ok",
            verdicts={"judge": verdict[words[task][place]]},
        )
        for task, outcomes in tasks.items()
        for place, outcome in enumerate(outcomes)
    ]


def met(made: list[Row], judges: Judges = FLAGGING) -> list[Meeting]:
    frame = pd.DataFrame(
        {
            "dataset": row.dataset,
            "group": "agent",
            "task": row.task,
            "attempt": row.attempt,
            "passed": None if row.outcome == "unknown" else row.outcome == "passed",
            "trajectory": row.id if row.status == "ok" else None,
        }
        for row in made
    )
    settings = IncoherenceSettings()
    return list(meetings(groups(conform(frame), {}), made, judges, settings))


def test_flags_on_tasks_that_keep_failing_go_with_bias() -> None:
    tasks = {f"bad{n}": "xxxx" for n in range(6)} | {f"fine{n}": "oooo" for n in range(6)}
    words = {task: "ffff" if task.startswith("bad") else "uuuu" for task in tasks}
    (found,) = met(rows(tasks, words))
    assert (found.flagged.bias, found.others.bias) == (1, 0)
    assert found.with_bias.tau == pytest.approx(1)
    assert found.with_variance.tau is None
    assert (found.within, found.telling_tasks) == (None, 0)


def test_flags_on_the_attempts_that_fail_go_with_scatter() -> None:
    tasks = {f"t{n}": "xoxo" for n in range(5)}
    (found,) = met(rows(tasks, dict.fromkeys(tasks, "fufu")))
    assert found.within is not None
    assert (found.within.gap, found.telling_tasks) == (100, 5)
    assert found.exact_p == pytest.approx(2 * (1 / 6) ** 5)
    assert found.with_bias.tau is None


def test_what_is_unjudged_or_unknown_is_counted_and_left_out() -> None:
    (found,) = met(rows({"t": "xo?x", "s": "oooo"}, {"t": "fuu?", "s": "uuuu"}))
    assert (found.attempts, found.flags, found.unjudged, found.unknown_outcome) == (6, 1, 1, 1)
    assert "1 unjudged, 1 unknown outcome" in table([found]).rows[0]


def test_attempts_without_thoughts_are_unflagged_and_counted() -> None:
    (found,) = met(rows({"t": "xo?", "s": "xo"}, {"t": "f..", "s": "f?"}))
    assert (found.flags, found.attempts, found.without_thoughts) == (2, 3, 1)
    made = table([found])
    assert made.rows[0][made.columns.index("No thoughts")] == "1"


def test_attempts_without_a_trajectory_are_counted() -> None:
    made = rows({"t": "xo", "s": "oo"}, {"t": "fu", "s": "uu"})
    lost = Row("s-9", "set", "s", "9", "failed", "no_trajectory")
    (found,) = met([*made, lost])
    assert (found.attempts, found.without_trajectory) == (4, 1)
    assert "1 without trajectory" in table([found]).rows[0]


def test_what_was_met_survives_its_file(tmp_path: Path) -> None:
    found = tuple(met(rows({"t": "xo", "s": "xo"}, {"t": "fu", "s": "fu"})))
    write_json(tmp_path / "met.json", found)
    assert read_json(tmp_path / "met.json", tuple[Meeting, ...]) == found


def test_a_judge_without_flags_has_no_row() -> None:
    assert met(rows({"t": "xo"}, {"t": "uu"})) == []
    assert table([]).rows == ()


def test_a_judge_that_rates_is_read_by_its_rating() -> None:
    tasks = {f"bad{n}": "xxxo" for n in range(4)} | {f"fine{n}": "oooo" for n in range(4)}
    rated = {"low": Verdict("unjudged", reason="rating only", rating=2)}
    rated["high"] = Verdict("unjudged", reason="rating only", rating=4)
    made = [
        replace(row, verdicts={"judge": rated["low" if row.outcome == "failed" else "high"]})
        for row in rows(tasks, dict.fromkeys(tasks, "uuuu"))
    ]
    (found,) = met(made, Judges(("judge",), {"judge": 3}))
    assert (found.reading, found.flags, found.attempts) == ("rating at most 3", 12, 32)
    assert met(made) == []


def test_a_run_without_thoughts_is_no_flag_and_one_without_a_rating_is_left_out() -> None:
    made = rows({"task": "xxoo"}, {"task": "uuuu"})
    words = (
        Verdict("unjudged", reason="rating only", rating=1),
        Verdict("unjudged", reason="refusal"),
        Verdict("unflagged", substrate="none"),
        Verdict("unjudged", reason="rating only", rating=5),
    )
    made = [replace(row, verdicts={"judge": word}) for row, word in zip(made, words, strict=True)]
    (found,) = met(made, Judges(("judge",), {"judge": 3}))
    assert (found.flags, found.attempts, found.unjudged) == (1, 3, 1)
