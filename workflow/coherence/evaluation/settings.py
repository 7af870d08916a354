"""What the evaluation is told."""

from collections.abc import Iterable

from coherence.evaluation.table import Row
from coherence.records import Record
from coherence.stats.intervals import Bootstrap


class EvaluationSettings(Record, frozen=True):
    """Draws, thresholds and choices of one evaluation.

    `rating_at_most` gives a judge's highest risky rating, and with it the two readings of a rating judge.
    `seeds` gives by judge the tasks its prompt quotes; `matched_k` the size of matched selectivity (None: the
    number each judge flags). `judges` and `features` choose and order what is shown (None: all, by name).
    `simulated` says by dataset what is not real about it.

    `confidence_at_least` adds to each judge the reading that flags only what it is so sure of.
    `family` names the judges and features whose tests are adjusted for one another (None: all shown),
    `stratify_by` the feature whose tertiles a gap is adjusted for, `covariates` the features beside a flag in
    the regression, `task_categories` the category of a task.

    `ablations` gives by full judge its variants and what each changes: they are shown beside it and nowhere
    else. A variant is equal to it within `margin_points`, on at least `least_pairs` trajectories both judged.
    `references` are the judges that others are measured against, `complementary` gives by main judge those
    that look for something else, `second_looks` by judge the one whose spans it looks at again.
    """

    bootstrap: Bootstrap = Bootstrap()
    rating_at_most: dict[str, int] = {}
    seeds: dict[str, tuple[str, ...]] = {}
    matched_k: int | None = None
    judges: tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None
    simulated: dict[str, str] = {}
    confidence_at_least: int | None = None
    family: tuple[str, ...] | None = None
    stratify_by: str = "think_chars"
    covariates: tuple[str, ...] = ("trajectory_length", "think_chars", "lexical", "tool_errors")
    task_categories: dict[str, str] = {}
    ablations: dict[str, dict[str, str]] = {}
    margin_points: float = 10.0
    least_pairs: int = 60
    references: tuple[str, ...] = ()
    complementary: dict[str, tuple[str, ...]] = {}
    second_looks: dict[str, str] = {}

    def judges_in(self, rows: Iterable[Row]) -> list[str]:
        """Return the judges chosen that the rows have verdicts of."""
        return _chosen(self.judges, {name for row in rows for name in row.verdicts})

    def features_in(self, rows: Iterable[Row]) -> list[str]:
        """Return the features chosen that the rows have."""
        return _chosen(self.features, {name for row in rows for name in row.features})


def _chosen(wanted: Iterable[str] | None, there: set[str]) -> list[str]:
    return sorted(there) if wanted is None else [name for name in wanted if name in there]
