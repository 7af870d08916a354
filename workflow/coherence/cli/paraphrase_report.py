"""The report's part on rewritten thoughts: a page a trajectory and paraphrase, and what they rest on."""

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from coherence.cli.config import Config
from coherence.cli.paraphrase_loading import LoadedParaphrase
from coherence.files import read_json, write_text
from coherence.paraphrase.checks import Checked
from coherence.records import Entry, Judgement, Record, Transcript
from coherence.report.blocks import PageLink, PageList
from coherence.report.paraphrase_pages import ParaphrasePage, render_paraphrase_page


class Written(Record, frozen=True):
    """The pages written, the lists of links to them, and the judgements on rewritten text by their names."""

    pages: tuple[Path, ...]
    lists: tuple[PageList, ...]
    words: dict[str, list[Judgement]]


def paraphrases_of(config: Config, dataset: str, entries: Sequence[Entry], paged: Collection[str]) -> Written:
    """Write the pages of every paraphrase of a dataset; `paged` are trajectories with a page of their own."""
    pages, lists = list[Path](), list[PageList]()
    words = dict[str, list[Judgement]]()
    for name in config.paraphrases_of(dataset):
        loaded = LoadedParaphrase(config, dataset, name)
        after = {judge: list(loaded.after(judge)) for judge in loaded.judges}
        before = {judge: list(loaded.before(judge)) for judge in loaded.judges}
        words |= {f"{judge} on {name}": said for judge, said in after.items()}
        links = write_pages(loaded, entries, (by_trajectory(before), by_trajectory(after)), paged)
        pages += [loaded.layout.page(loaded.place, link.place[-1]) for link in links]
        if links:
            lists.append(PageList(f"Before and after: {name} on {dataset}", tuple(links), (dataset,)))
    return Written(tuple(pages), tuple(lists), words)


def write_pages(
    loaded: LoadedParaphrase,
    entries: Sequence[Entry],
    words: tuple[dict[str, list[Judgement]], dict[str, list[Judgement]]],
    paged: Collection[str],
) -> list[PageLink]:
    """Write the pages of one paraphrase; `words` are those before and after by trajectory."""
    layout = loaded.layout
    shutil.rmtree(layout.page(loaded.place, "_").parent, ignore_errors=True)
    checked = {row.rewritten.id: row for row in loaded.checked}
    links = []
    for entry in entries:
        trial = entry.trial
        row = checked.get(trial.id)
        if row is None:
            continue
        page = ParaphrasePage(
            trial=trial,
            paraphrase=loaded.name,
            how=loaded.how,
            transcript=read_json(layout.transcript(loaded.dataset, trial.id), Transcript),
            rewritten=rewritten_of(loaded, row),
            checked=row,
            before=tuple(words[0].get(trial.id, ())),
            after=tuple(words[1].get(trial.id, ())),
            simulated=loaded.config.datasets[loaded.dataset].simulated,
            linked=trial.id in paged,
        )
        write_text(layout.page(loaded.place, trial.id), render_paraphrase_page(page))
        place = (loaded.dataset, "paraphrased", loaded.name, trial.id)
        links.append(PageLink(place, f"{trial.task}, attempt {trial.attempt}"))
    return links


def rewritten_of(loaded: LoadedParaphrase, row: Checked) -> Transcript | None:
    """Return the rewritten transcript, None where there is none."""
    if not row.rewritten.is_whole:
        return None
    return read_json(loaded.layout.transcript(loaded.place, row.rewritten.id), Transcript)


def by_trajectory(words: Mapping[str, Iterable[Judgement]]) -> dict[str, list[Judgement]]:
    """Return all judges' words on each trajectory."""
    found: dict[str, list[Judgement]] = defaultdict(list)
    for said in words.values():
        for word in said:
            found[word.trajectory].append(word)
    return found
