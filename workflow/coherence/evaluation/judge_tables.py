"""The judges of a run beside each other, asked of the table all at once."""

from collections.abc import Sequence

from coherence.evaluation import complementary, cross_judge, ensembles, proxy_goal, type_confusion
from coherence.evaluation.cross_judge import Words
from coherence.evaluation.render import Table
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row


def judge_tables(rows: Sequence[Row], settings: EvaluationSettings, words: Words) -> tuple[Table, ...]:
    """Return cross_judge, type_confusion, ensembles, complementary and proxy_goal of any datasets."""
    return (
        cross_judge.table(tuple(cross_judge.cross_judge(rows, settings, words)), settings),
        type_confusion.table(tuple(type_confusion.type_confusion(rows, settings, words))),
        ensembles.table(tuple(ensembles.ensembles(rows, settings))),
        complementary.table(tuple(complementary.complementary(rows, settings))),
        proxy_goal.table(tuple(proxy_goal.second_looks(rows, settings, words))),
    )
