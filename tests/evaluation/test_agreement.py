from collections.abc import Iterator
from hashlib import sha256
from math import sqrt
from pathlib import Path

import msgspec
import pytest

from coherence.errors import InputError
from coherence.evaluation.agreement import (
    FIELDS,
    Agreement,
    Part,
    by_trajectory,
    compare,
    kappa,
    kappa_text,
    prefix_labels,
    read_labels,
    split,
    table,
)
from coherence.formats import Source, load
from coherence.judges.rules import RulesJudge
from coherence.preprocess import PreprocessSettings, preprocess
from coherence.records import Judgement, JudgementState, Span, Transcript
from coherence.vocabulary import ConflictType


def span(start: int, end: int, conflict_type: ConflictType = "other") -> Span:
    return Span(1, start, end, start, "quote", end, "quote", conflict_type)


def judgement(
    trajectory: str, *spans: Span, state: JudgementState | None = None, judge: str = "judge"
) -> Judgement:
    reason = "refusal" if state == "unjudged" else None
    return Judgement(
        trajectory, judge, "recorded", state or ("flagged" if spans else "unflagged"), reason, spans=spans
    )


def judged(**states: str) -> dict[str, Judgement]:
    """Judgements by trajectory: "+" flagged, "-" unflagged, "?" unjudged."""
    words: dict[str, JudgementState] = {"+": "flagged", "-": "unflagged", "?": "unjudged"}
    return {
        key: judgement(key, *[span(1, 2)] * (state == "+"), state=words[state])
        for key, state in states.items()
    }


def counts(agreement: Agreement) -> tuple[int, int, int, int]:
    return (agreement.both, agreement.candidate_only, agreement.reference_only, agreement.neither)


def test_trajectories_are_counted_by_what_both_say() -> None:
    agreement = compare(
        judged(a="+", b="+", c="+", d="-", e="-", f="-"), judged(a="+", b="+", c="-", d="+", e="-", f="-")
    )
    assert (agreement.n, counts(agreement)) == (6, (2, 1, 1, 2))
    assert [(p.count, p.n) for p in (agreement.precision, agreement.recall, agreement.agreed)] == [
        (2, 3),
        (2, 3),
        (4, 6),
    ]


def test_what_one_side_did_not_judge_is_counted_and_left_out() -> None:
    agreement = compare(judged(a="+", b="?", c="-", d="?", x="+"), judged(a="+", b="+", c="?", d="?", y="-"))
    assert (agreement.n, counts(agreement)) == (1, (1, 0, 0, 0))
    assert (agreement.unjudged_candidate, agreement.unjudged_reference) == (2, 2)
    assert (agreement.missing_candidate, agreement.missing_reference) == (1, 1)


def test_intervals_are_clopper_pearson() -> None:
    states = {f"t{n}": "+" for n in range(10)}
    precision = compare(judged(**states), judged(**states)).precision
    assert precision.interval is not None
    assert precision.interval.low == pytest.approx(0.025 ** (1 / 10))
    assert (precision.interval.high, precision.interval.method) == (1.0, "Clopper-Pearson")


def test_nothing_flagged_leaves_precision_and_recall_unknown() -> None:
    agreement = compare(judged(a="-"), judged(a="-"))
    assert (agreement.precision.value, agreement.recall.value, agreement.recall.interval) == (
        None,
        None,
        None,
    )


def test_nothing_in_common_is_no_agreement() -> None:
    agreement = compare({}, judged(a="+"))
    assert (agreement.n, agreement.missing_candidate) == (0, 1)
    assert agreement.kappa.reason == "no trajectory was judged by both"


def by_hand(both: int, candidate_only: int, reference_only: int, neither: int) -> tuple[float, float]:
    """Kappa and its large-sample standard error after Fleiss, Cohen and Everitt (1969)."""
    n = both + candidate_only + reference_only + neither
    p = [[both / n, candidate_only / n], [reference_only / n, neither / n]]
    rows = [sum(row) for row in p]
    columns = [p[0][j] + p[1][j] for j in (0, 1)]
    chance = sum(rows[i] * columns[i] for i in (0, 1))
    k = (p[0][0] + p[1][1] - chance) / (1 - chance)
    diagonal = sum(p[i][i] * (1 - (rows[i] + columns[i]) * (1 - k)) ** 2 for i in (0, 1))
    outside = (1 - k) ** 2 * (p[0][1] * (columns[0] + rows[1]) ** 2 + p[1][0] * (columns[1] + rows[0]) ** 2)
    variance = (diagonal + outside - (k - chance * (1 - k)) ** 2) / (n * (1 - chance) ** 2)
    return k, sqrt(variance)


@pytest.mark.parametrize("cells", [(20, 5, 10, 15), (5, 2, 9, 21), (6, 14, 12, 8)])
def test_kappa(cells: tuple[int, int, int, int]) -> None:
    expected, error = by_hand(*cells)
    found = kappa(*cells)
    assert found.value == pytest.approx(expected)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (expected - 1.959964 * error, expected + 1.959964 * error), abs=1e-6
    )


def test_kappa_of_a_textbook_table_is_two_fifths() -> None:
    assert kappa(20, 5, 10, 15).value == pytest.approx(0.4)


def test_an_interval_of_kappa_stays_within_its_range() -> None:
    interval = kappa(8, 0, 1, 26).interval
    assert interval is not None
    assert interval.high == 1.0


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        ((0, 0, 0, 0), None),
        ((7, 0, 0, 0), None),
        ((0, 0, 0, 7), None),
        ((0, 0, 3, 4), 0.0),
        ((3, 4, 0, 0), 0.0),
    ],
)
def test_kappa_says_where_it_is_not_defined(cells: tuple[int, int, int, int], value: float | None) -> None:
    found = kappa(*cells)
    assert (found.value, found.interval) == (value, None)
    assert found.reason


@pytest.mark.parametrize(
    ("ours", "theirs", "met_reference", "met_candidate", "same"),
    [
        ([span(1, 3)], [span(3, 5)], (1, 1), (1, 1), (1, 1)),
        ([span(1, 3)], [span(4, 5)], (0, 1), (0, 1), (0, 0)),
        ([span(1, 9)], [span(1, 2), span(4, 5), span(12, 12)], (2, 3), (1, 1), (2, 2)),
        ([], [span(1, 2)], (0, 1), (0, 0), (0, 0)),
        (
            [span(1, 4, "inference_vs_inference"), span(4, 9, "other")],
            [span(3, 8, "other")],
            (1, 1),
            (2, 2),
            (1, 1),
        ),
        ([span(1, 2, "inference_vs_inference")], [span(1, 2)], (1, 1), (1, 1), (0, 1)),
    ],
    ids=["one-step-shared", "apart", "one-meets-two", "none", "nearest-decides-type", "other-type"],
)
def test_spans(
    ours: list[Span],
    theirs: list[Span],
    met_reference: tuple[int, int],
    met_candidate: tuple[int, int],
    same: tuple[int, int],
) -> None:
    agreement = compare({"a": judgement("a", *ours)}, {"a": judgement("a", *theirs)})
    found = (agreement.reference_spans, agreement.candidate_spans, agreement.conflict_types)
    assert [(share.count, share.n) for share in found] == [met_reference, met_candidate, same]


def test_spans_of_different_trajectories_do_not_meet() -> None:
    agreement = compare(judged(a="+", b="-"), judged(a="-", b="+"))
    assert (agreement.reference_spans.count, agreement.candidate_spans.count) == (0, 0)


def test_two_judgements_of_one_trajectory_are_an_error() -> None:
    with pytest.raises(InputError, match="two judgements"):
        by_trajectory([judgement("a"), judgement("a")])


def test_the_split_is_by_the_keys_hash() -> None:
    keys = [f"run-{n}" for n in range(400)]
    halves = [split(key) for key in keys]
    assert halves == [
        "test" if int(sha256(key.encode()).hexdigest(), 16) % 2 else "development" for key in keys
    ]
    assert 150 < halves.count("test") < 250


def test_a_part_compares_only_its_keys() -> None:
    keys = {f"run-{n}": "-" for n in range(20)}
    parts = [compare(judged(**keys), judged(**keys), part=part) for part in ("development", "test")]
    assert [part.n for part in parts] == [
        sum(split(key) == half for key in keys) for half in ("development", "test")
    ]
    assert [part.part for part in parts] == ["development", "test"]


LINE = (
    '{"file": "a/b.json", "reader": 2, "trajectory_summary": "It ran.", "generic_coherence": 3, '
    '"flagged_spans": [{"span_id": 1, "start_step": 2, "end_step": 4, "acknowledgment_step": 2, '
    '"acknowledgment_quote": "odd", "action_step": 4, "action_quote": "ls", '
    '"conflict_type": "other", "confidence": null, "reasoning": "why"}], "near_misses": []}\n'
)


def test_labels_are_read_as_recorded_judgements(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(LINE + '\n{"file": "c", "reader": "human", "flagged_spans": []}\n')
    first, second = read_labels(path)
    assert (first.file, first.reader, first.judgement.kind) == ("a/b.json", "2", "recorded")
    assert (first.judgement.state, first.judgement.rating, first.judgement.summary) == (
        "flagged",
        3,
        "It ran.",
    )
    assert first.judgement.spans == (Span(1, 2, 4, 2, "odd", 4, "ls", "other", None, "why"),)
    assert (second.reader, second.judgement.state) == ("human", "unflagged")


def test_labels_on_prefixes_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rated = '{"trial": "c", "after_step": 9, "rating": 2}\n'
    path.write_text(LINE + LINE.replace('"reader": 2', '"reader": 2, "after_step": 3') + rated)
    assert [label.file for label in read_labels(path)] == ["a/b.json"]
    assert prefix_labels(path) == [("a/b.json", "2"), ("c", "unnamed")]


def test_verdicts_on_prefixes_are_counted_in_their_part_and_shown() -> None:
    keys = {f"run-{n}": "-" for n in range(20)}
    cut = ["run-0", "run-0", "run-1", "run-2", "run-3", "run-4"]
    parts: tuple[Part | None, ...] = (None, "development", "test")
    found = [compare(judged(**keys), judged(**keys), part=part, on_prefixes=cut) for part in parts]
    whole, *halves = (one.reference_prefixes for one in found)
    assert whole == sum(halves) == 6
    assert halves == [sum(split(key) == half for key in cut) for half in ("development", "test")]
    assert table(found[:1]).rows[0][-1] == "6 reference verdicts on prefixes"
    assert table(found[:1]).records[0]["n_reference_prefixes"] == 6


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        '{"file": "a", "reader": 1}',
        LINE.replace('"other"', '"unheard_of"').strip(),
        LINE.replace('"start_step": 2', '"start_step": "two"').strip(),
    ],
    ids=["not-json", "no-spans", "unknown-type", "step-in-words"],
)
def test_a_label_that_does_not_fit_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{{"file": "c", "reader": 1, "flagged_spans": []}}\n{line}\n')
    with pytest.raises(InputError, match=r"labels\.jsonl:2"):
        list(read_labels(path))


def test_a_missing_label_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        list(read_labels(tmp_path / "none.jsonl"))


def test_the_table_shows_n_and_intervals() -> None:
    agreement = compare(
        judged(a="+", b="+", c="-", d="-", e="?"),
        judged(a="+", b="-", c="-", d="+", e="+"),
        ("rules", "reader 1"),
    )
    made = table([agreement])
    cells = dict(zip(made.columns, made.rows[0], strict=True))
    assert (cells["Judge"], cells["Reference"], cells["Part"], cells["n"]) == (
        "rules",
        "reader 1",
        "all",
        "4",
    )
    assert cells["Precision"] == "1/2 (50 %; 1 to 99)"
    assert cells["Left out"] == "1 unjudged by judge"


def test_the_tables_records_hold_every_number() -> None:
    record = table([compare(judged(a="+", b="-"), judged(a="+", b="-"))]).records[0]
    assert tuple(record) == tuple(FIELDS)
    assert (record["both_flag"], record["precision_n"], record["kappa"], record["kappa_high"]) == (
        1,
        1,
        1.0,
        1.0,
    )


@pytest.mark.parametrize(
    ("cells", "text"), [((0, 0, 0, 4), "-"), ((0, 0, 3, 4), "0.00"), ((20, 5, 10, 15), "0.40 (0.15 to 0.65)")]
)
def test_kappa_in_words(cells: tuple[int, int, int, int], text: str) -> None:
    assert kappa_text(kappa(*cells)) == text


# The quality of the rules judge, measured on the labelled real runs. Cues, weights and settings were chosen
# on the development half alone; the test half was read once, after that. One trajectory more or less passes.

MEASURED = {"development": (35, (9, 0, 2, 24)), "test": (37, (5, 2, 9, 21))}
LABELLED = {"mini-swe-agent": "mini_swe_agent", "harbor": "harbor"}


def labelled_transcripts(corpora: Path, files: set[str]) -> Iterator[Transcript]:
    for format_name, folder in LABELLED.items():
        root = corpora / folder
        reader = load(format_name)
        for unit in reader.discover(root):
            for file in files & {f"{folder}/{path}" for path in unit.files}:
                for reading in reader.read(root, unit, Source("labelled", folder)):
                    assert reading.trajectory is not None
                    yield msgspec.structs.replace(
                        preprocess(reading.trajectory, PreprocessSettings()), id=file
                    )


@pytest.fixture(scope="module")
def references(shared: Path) -> dict[str, Judgement]:
    labels = read_labels(shared / "labels" / "spans.jsonl")
    return by_trajectory(label.judgement for label in labels if label.reader == "1")


@pytest.fixture(scope="module")
def candidates(shared: Path, references: dict[str, Judgement]) -> dict[str, Judgement]:
    transcripts = labelled_transcripts(shared / "corpora", set(references))
    return by_trajectory(RulesJudge("rules").judge(transcripts))


@pytest.mark.parametrize("part", ["development", "test"])
def test_the_rules_judge_is_as_good_as_published(
    candidates: dict[str, Judgement], references: dict[str, Judgement], part: str
) -> None:
    half = next(name for name in ("development", "test") if name == part)
    agreement = compare(candidates, references, part=half)
    n, (both, candidate_only, _, _) = MEASURED[part]
    assert agreement.n == n
    assert agreement.both == pytest.approx(both, abs=1)
    assert agreement.candidate_only == pytest.approx(candidate_only, abs=1)


def test_the_rules_judge_quotes_what_is_there(candidates: dict[str, Judgement]) -> None:
    spans = [found for judged_run in candidates.values() for found in judged_run.spans]
    assert {found.acknowledgment_check.verdict for found in spans} == {"exact"}
    assert {found.action_check.verdict for found in spans} <= {"exact", "normalised"}


def test_a_span_that_does_not_flag_meets_none() -> None:
    ours = {"a": judgement("a", span(1, 2), msgspec.structs.replace(span(8, 9), flags=False))}
    agreement = compare(ours, {"a": judgement("a", span(1, 2), span(8, 9))})
    assert (agreement.reference_spans.count, agreement.reference_spans.n) == (1, 2)
    assert agreement.candidate_spans.n == 1
