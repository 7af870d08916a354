"""What to do about each task that fails: read the answer it keeps giving, or compare attempts that part."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan
from typing import Final, Literal

import numpy as np
from msgspec.structs import replace

from coherence.evaluation import wording
from coherence.evaluation.incoherence_settings import IncoherenceSettings
from coherence.evaluation.losses import failed_tests
from coherence.evaluation.main_parts import MainParts, main_parts
from coherence.evaluation.readings import marked, table_of
from coherence.evaluation.render import Table, proportion_fields
from coherence.evaluation.repeated import Group
from coherence.incoherence.parts import Floats, Ints
from coherence.records import Record
from coherence.stats.intervals import LEVEL_TEXT
from coherence.stats.proportions import CLOPPER_PEARSON, Proportion, clopper_pearson, proportion

Path = Literal["read the wrong answer it keeps giving", "compare attempts that part", "both"]
BIAS_HEAVY: Final[Path] = "read the wrong answer it keeps giving"
VARIANCE_HEAVY: Final[Path] = "compare attempts that part"
MIXED: Final[Path] = "both"
HEAVY: Final = 0.6  # share of a task's error that makes one part of it the heavy one
SHOWN: Final = 60  # rows to read; the CSV has all


class Loss(Record, frozen=True):
    """The loss of a task's attempts (1 less reward, or the share of failed tests): never the best alone."""

    median: float
    worst: float
    low: float
    high: float


class FailingTask(Record, frozen=True):
    """One task that some attempt of a group failed; `bias` and `variance` are unbiased, so may be negative.

    `bias_share` is clipped to 0 to 1, None where the parts are not known or no error is left. `trajectories`
    are the ids of attempts with text, `modal_answer` the most frequent wrong answer with its count, and
    `read_first` those of the attempts that gave it (that failed, where no answer is known).
    """

    dataset: str
    group: str
    task: str
    failed: Proportion
    kind: str
    error: float | None
    bias: float | None
    variance: float | None
    bias_share: float | None
    loss: Loss | None
    median_steps: float | None
    median_calls: float | None
    modal_answer: str | None
    modal_count: int
    trajectories: tuple[str, ...]
    read_first: tuple[str, ...] = ()
    simulated: str = ""

    @property
    def suggestion(self) -> Path | None:
        """Where to look first, None where the parts say nothing."""
        if self.bias_share is None:
            return None
        if self.bias_share >= HEAVY:
            return BIAS_HEAVY
        return VARIANCE_HEAVY if self.bias_share <= 1 - HEAVY else MIXED

    @property
    def rank(self) -> tuple[float, float, str, str]:
        """What sorts the most failing, then the most biased first."""
        return (-(self.failed.value or 0), -(self.bias_share or 0), self.task, self.group)


def failing_tasks(groups: Iterable[Group], settings: IncoherenceSettings) -> Iterator[FailingTask]:
    """Yield the tasks of each group that some attempt failed, the most failing first."""
    for group in groups:
        yield from sorted(_failing(group, settings), key=lambda row: row.rank)


def _failing(group: Group, settings: IncoherenceSettings) -> Iterator[FailingTask]:
    main = main_parts(group, settings)
    if main is None:
        return
    passed = group.frame["passed"].to_numpy(dtype=float, na_value=np.nan)
    losses = _losses(group, passed)
    columns = {name: group.numbers(name) for name in ("steps", "calls")}
    answers, names = _texts(group, "answer"), _texts(group, "trajectory")
    parts = _parts_by_task(main)
    for task, rows in _rows_by_task(group):
        judged = rows[~np.isnan(passed[rows])]
        failed = int((passed[judged] == 0).sum())
        if failed:
            error, bias, variance = parts.get(task, (None, None, None))
            answer, count = _modal_wrong(answers, rows, passed)
            yield FailingTask(
                dataset=group.dataset,
                group=group.name,
                task=str(group.tasks[task]),
                failed=proportion(failed, len(judged), clopper_pearson),
                kind=main.kind,
                error=error,
                bias=bias,
                variance=variance,
                bias_share=_share(error, bias),
                loss=_loss(losses[rows]),
                median_steps=_median(columns["steps"][rows]),
                median_calls=_median(columns["calls"][rows]),
                modal_answer=answer,
                modal_count=count,
                trajectories=tuple(name for row in rows if (name := names[row]) is not None),
                read_first=tuple(_read_first(rows, (passed, answers, names), answer)),
                simulated=group.simulated,
            )


def _read_first(
    rows: Ints, of: tuple[Floats, Sequence[str | None], Sequence[str | None]], modal: str | None
) -> Iterator[str]:
    """Yield the trajectories that gave the most frequent wrong answer; where none is known, that failed."""
    passed, answers, names = of
    for row in rows:
        name = names[row]
        if passed[row] == 0 and name is not None and (modal is None or answers[row] == modal):
            yield name


def _rows_by_task(group: Group) -> Iterator[tuple[int, Ints]]:
    tasks, first = np.unique(group.task, return_index=True)
    ends = [*first[1:], len(group.task)]
    for task, start, end in zip(tasks, first, ends, strict=True):
        yield int(task), np.arange(start, end)


def _parts_by_task(main: MainParts) -> dict[int, tuple[float, float, float]]:
    parts = main.parts
    return {
        int(task): (float(parts.error[place]), float(parts.bias[place]), float(parts.variance[place]))
        for place, task in enumerate(main.attempts.tasks)
        if parts.known[place]
    }


def _share(error: float | None, bias: float | None) -> float | None:
    if error is None or bias is None or error <= 0:
        return None
    return min(1.0, max(0.0, bias / error))


def _losses(group: Group, passed: Floats) -> Floats:
    """Return the share of failed tests where there are any, else 1 less reward, else 1 less pass.

    Rewards of a group that go beyond 1 have a scale of their own, and are not used.
    """
    rewards = group.numbers("reward")
    use_rewards = ~np.isnan(rewards) & ~(rewards > 1).any()
    losses = np.where(use_rewards, 1 - rewards, 1 - passed)
    if group.known("tests").any():
        tests = failed_tests(group)
        losses = np.where(np.isnan(tests), losses, tests)
    return np.asarray(losses)


def _loss(values: Floats) -> Loss | None:
    known = sorted(value for value in values.tolist() if not isnan(value))
    if not known:
        return None
    low, middle, high = (_quantile(known, share) for share in (0.25, 0.5, 0.75))
    return Loss(middle, known[-1], low, high)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the interpolated quantile, without numpy's price for a handful of values."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _median(values: Floats) -> float | None:
    known = sorted(value for value in values.tolist() if not isnan(value))
    return _quantile(known, 0.5) if known else None


def _texts(group: Group, column: str) -> list[str | None]:
    values = group.frame[column]
    return [text if known else None for text, known in zip(values.tolist(), values.notna(), strict=True)]


def _modal_wrong(answers: Sequence[str | None], rows: Ints, passed: Floats) -> tuple[str | None, int]:
    given = ((answers[row], passed[row]) for row in rows)
    wrong = Counter(answer for answer, outcome in given if outcome == 0 and answer is not None)
    return wrong.most_common(1)[0] if wrong else (None, 0)


FIELDS: Final[dict[str, str]] = {
    "dataset": "dataset",
    "group": "group",
    "task": "task",
    **proportion_fields("failed", "failed", "failure_rate"),
    "outcome_kind": "kind",
    "error": "error",
    "bias": "bias",
    "variance": "variance",
    "bias_share": "bias_share",
    "suggestion": "suggestion",
    "loss_median": "loss.median",
    "loss_worst": "loss.worst",
    "loss_first_quartile": "loss.low",
    "loss_third_quartile": "loss.high",
    "median_steps": "median_steps",
    "median_calls": "median_calls",
    "most_frequent_wrong_answer": "modal_answer",
    "n_most_frequent_wrong_answer": "modal_count",
    "simulated": "simulated",
}


def _loss_text(row: FailingTask) -> str:
    if row.loss is None:
        return wording.NONE
    spread = f"{wording.estimate(row.loss.low)} to {wording.estimate(row.loss.high)}"
    return f"{wording.estimate(row.loss.median)} ({spread}), worst {wording.estimate(row.loss.worst)}"


def _lengths(row: FailingTask) -> str:
    parts = {"steps": row.median_steps, "calls": row.median_calls}
    return ", ".join(f"{wording.number(value)} {name}" for name, value in parts.items() if value is not None)


_COLUMNS: Final[dict[str, Callable[[FailingTask], str]]] = {
    "Dataset": lambda row: marked(row.dataset, row.simulated),
    "Group": lambda row: row.group,
    "Task": lambda row: row.task,
    "Failed": lambda row: wording.proportion(row.failed),
    "Loss": _loss_text,
    "Bias share": lambda row: (
        wording.NONE if row.bias_share is None else f"{wording.percent(row.bias_share)} %"
    ),
    "Look first": lambda row: row.suggestion or wording.NONE,
    "Median length": lambda row: _lengths(row) or wording.NONE,
    "Most frequent wrong answer": lambda row: (
        wording.NONE if row.modal_answer is None else f"{row.modal_answer[:40]} ({row.modal_count:,})"
    ),
}


def table(rows: Sequence[FailingTask]) -> Table:
    """Return `failing_tasks`: the first of each dataset to read, all in full."""
    by_dataset: dict[str, list[FailingTask]] = {}
    for row in rows:
        by_dataset.setdefault(row.dataset, []).append(row)
    first = [row for own in by_dataset.values() for row in sorted(own, key=lambda row: row.rank)[:SHOWN]]
    full = table_of(rows, _COLUMNS, FIELDS, name="failing_tasks", title=TITLE, caption=CAPTION)
    short = table_of(first, _COLUMNS, FIELDS, name="failing_tasks", title=TITLE, caption=CAPTION)
    return replace(short, records=full.records)


TITLE: Final = "Tasks that fail, and where to look first"
CAPTION: Final = (
    f"Tasks that any attempt failed, by group; the {SHOWN} most failing of each dataset to read, all of "
    f"them in the CSV. Failed/n (rate in %; {LEVEL_TEXT} {CLOPPER_PEARSON} interval). Loss: share of "
    "failed tests, else 1 less reward (unless one is above 1), else 1 less pass: median (quartiles) and "
    "worst attempt, for the best of several is no measure. Bias share: of the task's error, by the group's "
    "main decomposition, clipped to 0 to 100 %; with few attempts it is rough, and where only pass or fail "
    "is known it is 1 less the pass rate over again. Look first: bias-heavy tasks keep failing the same "
    "way, variance-heavy ones scatter. Incoherent is not harmless: a task that fails by chance fails all "
    "the same; and a failure that makes no sense is no sign of misaligned aims."
)
