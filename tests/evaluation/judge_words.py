"""Judges' words on made-up trajectories, a letter each: f flagged, u unflagged, ? unjudged, . no thought."""

from collections.abc import Mapping
from typing import Any

from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict, verdict
from coherence.records import Judgement, JudgementState, OutcomeStatus, Span
from coherence.stats.intervals import Bootstrap
from coherence.vocabulary import ConflictType

LETTERS: dict[str, JudgementState] = {"f": "flagged", "u": "unflagged", "?": "unjudged", ".": "unflagged"}
OUTCOMES: dict[str, OutcomeStatus] = {"F": "failed", "P": "passed", "-": "unknown"}
SETTINGS = EvaluationSettings(bootstrap=Bootstrap(100, 1), simulated={"set": "made up"})


def span(start: int, end: int, kind: ConflictType = "other") -> Span:
    return Span(1, start, end, start, "quote", end, "quote", kind)


def words(letters: str, judge: str = "j", **more: Any) -> dict[str, Judgement]:
    """One judgement a letter; `more` are fields of those that flag."""
    return {
        f"t{number}": Judgement(
            f"t{number}",
            judge,
            "llm",
            LETTERS[letter],
            reason="api" if letter == "?" else None,
            substrate="none" if letter == "." else "thoughts",
            **(more if letter == "f" else {}),
        )
        for number, letter in enumerate(letters)
    }


def rows(outcomes: str, judged: Mapping[str, Mapping[str, Judgement]]) -> list[Row]:
    """One trajectory a letter of the outcomes, with every judge's verdict on it."""
    return [
        Row(
            f"t{number}",
            "set",
            f"task{number}",
            "1",
            OUTCOMES[letter],
            "ok",
            verdicts={judge: _verdict(said, f"t{number}") for judge, said in judged.items()},
        )
        for number, letter in enumerate(outcomes)
    ]


def _verdict(said: Mapping[str, Judgement], name: str) -> Verdict:
    return verdict(said[name]) if name in said else Verdict("unjudged", "missing")
