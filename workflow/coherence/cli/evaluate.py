"""`coherence evaluate`: the result tables, over all datasets of the config."""

import argparse
from collections.abc import Iterator

from msgspec.structs import replace

from coherence.cli.arguments import add_config_argument, config_of, say
from coherence.cli.config import Config, LlmJudge, of_another
from coherence.cli.judges_told import rating_limits, references_of, seeds_of
from coherence.cli.layout import PUBLISHED, Layout
from coherence.cli.loading import Loaded
from coherence.cli.paraphrase_loading import each_loaded
from coherence.cli.variants import ablations_of, variants_of
from coherence.evaluation import ablations_table, monitor, prefix_table, published_table, repeats
from coherence.evaluation.attrition import attrition
from coherence.evaluation.audit import audit_tables
from coherence.evaluation.cost import Cost, cost_table, count_costs
from coherence.evaluation.counts import (
    attrition_table,
    count_deviations,
    count_judgements,
    deviation_table,
    judgement_table,
)
from coherence.evaluation.evaluate import Evaluation, evaluate, further_tables, tables
from coherence.evaluation.judge_tables import judge_tables
from coherence.evaluation.numbers import read_numbers
from coherence.evaluation.paraphrase_tables import paraphrase_tables
from coherence.evaluation.paraphrased import Manipulated
from coherence.evaluation.published import read_published
from coherence.evaluation.published_table import Beside
from coherence.evaluation.render import Table, write_table
from coherence.evaluation.repeated_tasks import with_independence
from coherence.evaluation.settings import EvaluationSettings
from coherence.evaluation.table import Row, by_dataset
from coherence.evaluation.watched import Prefixed, watched
from coherence.features import FEATURES, MARKER_PREFIX
from coherence.files import write_json, write_readable
from coherence.judges.samples import majority
from coherence.llm.ledger import read_ledger
from coherence.records import Record
from coherence.stats.intervals import Bootstrap


def feature_names(rows: list[Row]) -> tuple[str, ...]:
    """Return the features to compare: the paper's, then a table's own; single markers are not compared."""
    own = sorted({name for row in rows for name in row.features if not name.startswith(MARKER_PREFIX)})
    return (*FEATURES, *(name for name in own if name not in FEATURES))


def settings_of(config: Config, rows: list[Row]) -> EvaluationSettings:
    """Return what the evaluation is told."""
    return EvaluationSettings(
        bootstrap=Bootstrap(config.evaluation.resamples, config.evaluation.seed),
        rating_at_most=rating_limits(config),
        seeds={name: seeds_of(config, name) for name in config.judges},
        matched_k=config.evaluation.matched_k,
        judges=tuple(name for name in config.judges if name not in variants_of(config)),
        features=feature_names(rows),
        simulated=simulated(config),
        confidence_at_least=config.evaluation.confidence_at_least,
        family=config.evaluation.family,
        stratify_by=config.evaluation.stratify_by,
        covariates=config.evaluation.covariates,
        task_categories=config.evaluation.task_categories,
        ablations=ablations_of(config),
        margin_points=config.evaluation.equivalence.margin_points,
        references=references_of(config),
        complementary={main: tuple(others) for main, others in config.evaluation.complementary.items()},
        second_looks={name: str(j.of) for name, j in config.judges.items() if of_another(j)},
        least_pairs=config.evaluation.equivalence.at_least,
    )


def simulated(config: Config) -> dict[str, str]:
    """Return by dataset what is not real about it."""
    return {name: dataset.simulated for name, dataset in config.datasets.items() if dataset.simulated}


def counts(config: Config, loaded: list[Loaded]) -> Iterator[Table]:
    """Yield the tables of counts."""
    notes = simulated(config)
    judged = [
        count_judgements(data.name, judge, words)
        for data in loaded
        for judge, words in data.all_judgements.items()
    ]
    yield judgement_table(judged, notes)
    trials = [row for data in loaded for row in attrition(data.name, data.entries, data.exclusions)]
    yield attrition_table(trials, notes)
    deviations = [row for data in loaded for row in count_deviations(data.name, data.entries)]
    yield deviation_table(deviations, notes)
    costs = costs_of(config)
    yield cost_table(costs or [Cost(name, "none that calls a model", "") for name in config.datasets], notes)


def costs_of(config: Config) -> list[Cost]:
    """Return what the calls of every judge came to, called or not."""
    return count_costs(read_ledger(Layout(config).ledger), llm_judges(config))


def llm_judges(config: Config) -> Iterator[tuple[str, str, str]]:
    """Yield (dataset, judge, model) of every judge that calls a model."""
    for dataset in config.datasets:
        for judge in config.judges_of(dataset):
            section = config.judges[judge]
            if isinstance(section, LlmJudge):
                yield dataset, judge, section.model


def repeated(loaded: list[Loaded], rows: list[Row], settings: EvaluationSettings) -> Table:
    """Return the table of judges that were asked more than once."""
    members = by_dataset(rows)
    found = [
        repeats.repeats(judge, words, members.get(data.name, []), settings)
        for data in loaded
        for judge, words in data.all_judgements.items()
    ]
    return repeats.table([row for row in found if row is not None], settings)


class Evaluated(Record, frozen=True):
    """The evaluation of all datasets, the paper's numbers beside ours, and every table."""

    evaluation: Evaluation
    beside: tuple[Beside, ...]
    tables: tuple[Table, ...]


def evaluated(config: Config) -> Evaluated:
    """Return everything asked of all datasets."""
    loaded = [Loaded(config, name) for name in config.datasets]
    rows = [row for data in loaded for row in data.rows()]
    settings = settings_of(config, rows)
    timelines = {data.name: data.timelines() for data in loaded}
    said = {
        data.name: {judge: majority(words) for judge, words in data.all_judgements.items()} for data in loaded
    }
    evaluation = evaluate(rows, settings, timelines, costs_of(config))
    rewritten, summed = paraphrase_tables(list(manipulated(config, loaded)))
    evaluation = replace(
        evaluation,
        watched=tuple(watched(rows, prefixed(config, loaded), timelines, settings)),
        paraphrased=summed,
    )
    published = read_published(PUBLISHED / "counts.toml")
    numbers = read_numbers(PUBLISHED / "numbers.csv")
    beside = tuple(published_table.beside(numbers, published, evaluation, rows, summed))
    made = (
        *tables(evaluation),
        *further_tables(rows, settings),
        *rewritten,
        ablations_table.table(evaluation.ablations, settings),
        *judge_tables(rows, settings, said),
        *audit_tables(published),
        published_table.table(beside, settings),
        repeated(loaded, rows, settings),
        *prefix_tables(config, evaluation),
        *counts(config, loaded),
    )
    return Evaluated(evaluation, beside, tuple(with_independence(made, rows)))


def manipulated(config: Config, loaded: list[Loaded]) -> Iterator[Manipulated]:
    """Yield every paraphrase of every dataset, judge by judge."""
    tasks = {data.name: {entry.trial.id: entry.trial.task for entry in data.entries} for data in loaded}
    for made in each_loaded(config):
        for judge in made.judges:
            yield Manipulated(
                dataset=made.dataset,
                paraphrase=made.name,
                how=made.how,
                manipulation=made.manipulation,
                judge=judge,
                considered=made.considered,
                checked=tuple(made.checked),
                before=tuple(made.before(judge)),
                after=tuple(made.after(judge)),
                tasks=tasks[made.dataset],
                seeds=seeds_of(config, judge),
                simulated=config.datasets[made.dataset].simulated,
            )


def prefixed(config: Config, loaded: list[Loaded]) -> Prefixed:
    """Return the judgements of prefixes, by dataset and judge."""
    return {
        data.name: {judge: data.prefix_judgements(judge) for judge in config.prefixes_of(data.name)}
        for data in loaded
    }


def prefix_tables(config: Config, evaluation: Evaluation) -> Iterator[Table]:
    """Yield the tables of runs on the way, where prefixes are judged."""
    if any(map(config.prefixes_of, config.datasets)):
        yield prefix_table.table(tuple(prefix_table.on_the_way(evaluation.watched)))
        yield monitor.table(tuple(monitor.monitors(evaluation.watched)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Write the tables, and the evaluation itself for the figures and the report."""
    config = config_of(args)
    layout = Layout(config)
    found = evaluated(config)
    for table in found.tables:
        write_table(table, layout.tables)
    write_readable(layout.evaluation, found.evaluation)
    write_json(layout.beside, found.beside)
    write_json(layout.shown, found.tables)
    say(f"evaluate: {len(found.tables)} tables in {layout.tables}")
    return 0
