"""The paper's first dataset as rows: its counts by flag, tertile of thought and marker count."""

from coherence.evaluation.first_flags import Timeline
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, Verdict

# tertile: (flagged failed, flagged passed, unflagged failed, unflagged passed); solution A of the reference.
TERTILES = {0: (0, 1, 4, 9), 1: (5, 0, 6, 4), 2: (10, 0, 3, 2)}
# Of each group (flagged?, failed?) so many have more than two markers; the rest have at most two.
MANY_MARKERS = {(True, True): 14, (True, False): 0, (False, True): 5, (False, False): 2}
SETTINGS = EvaluationSettings(
    judges=("detector",), features=("lexical", "think_chars"), simulated={"qwen": "counts"}
)


def rows(dataset: str = "qwen") -> list[Row]:
    """44 trajectories; the flags have confidence 3, but 5 in the highest tertile."""
    made: list[Row] = []
    left = dict(MANY_MARKERS)
    for tertile, sizes in TERTILES.items():
        groups = ((True, True), (True, False), (False, True), (False, False))
        for (flagged, failed), size in zip(groups, sizes, strict=True):
            for _ in range(size):
                left[flagged, failed] -= 1
                many = left[flagged, failed] >= 0
                made.append(_row(dataset, len(made), (tertile, flagged, failed, many)))
    return made


def _row(dataset: str, number: int, what: tuple[int, bool, bool, bool]) -> Row:
    tertile, flagged, failed, many = what
    word = Verdict("flagged", None, 1, 5 if tertile == 2 else 3, 1 + number % 9)
    return Row(
        f"t{number:02}",
        dataset,
        f"task{number:02}",
        "1",
        "failed" if failed else "passed",
        "ok",
        features={"lexical": 10.0 + number if many else 2.0, "think_chars": 1000.0 * tertile + number},
        verdicts={"detector": word if flagged else Verdict("unflagged")},
    )


def timelines(dataset: str = "qwen") -> dict[str, dict[str, Timeline]]:
    """Trajectories of 10 to 19 steps."""
    return {dataset: {row.id: Timeline(tuple(range(1, 11 + n % 10)), (1,)) for n, row in enumerate(rows())}}
