from pathlib import Path

from coherence.evaluation.evaluate import Evaluation, evaluate
from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict
from coherence.files import encode, read_json, write_json

SETTINGS = EvaluationSettings(rating_at_most={"generic": 3}, simulated={"set": "planted"})


def rows() -> list[Row]:
    return [
        Row(
            str(number),
            "set",
            "task",
            "1",
            "failed" if number % 3 else "passed",
            "ok",
            weight=1.0 + number,
            features={"length": float(number)},
            verdicts={
                "detector": Verdict("flagged", None, 1, 3, number + 1)
                if number % 2
                else Verdict("unflagged"),
                "generic": Verdict("unflagged", rating=1 + number % 5),
            },
        )
        for number in range(12)
    ]


def evaluated() -> Evaluation:
    return evaluate(
        rows(), SETTINGS, {"set": {row.id: Timeline(tuple(range(1, 14)), (1,)) for row in rows()}}
    )


def test_every_reading_has_a_failure_rate_and_a_selectivity() -> None:
    evaluation = evaluated()
    readings = [(row.reading.name, row.reading.label) for row in evaluation.failure_rates]
    assert readings == [
        ("detector", "flagged"),
        ("generic", "any span"),
        ("generic", "rating at most 3"),
        ("length", "above median"),
    ]
    assert [(row.reading.name, row.reading.label) for row in evaluation.selectivity] == readings


def test_an_evaluation_survives_its_file(tmp_path: Path) -> None:
    write_json(tmp_path / "evaluation.json", evaluated())
    assert read_json(tmp_path / "evaluation.json", Evaluation) == evaluated()


def test_same_rows_same_bytes() -> None:
    assert encode(evaluated()) == encode(evaluated())
