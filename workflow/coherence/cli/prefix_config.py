"""The section `prefixes` of the config: which judges judge growing prefixes too, and where these end."""

from collections.abc import Iterator, Mapping

from coherence.judges.prefixes import Grid


class PrefixSection(Grid, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The grid of one judge; `verdicts` is the file a recorded one repeats, its own `path` unless given."""

    datasets: list[str] | None = None
    verdicts: str | None = None


def faults(
    section: PrefixSection, recorded: bool, path: str | None, readable: Mapping[str, bool]
) -> Iterator[tuple[str, str]]:
    """Yield (key, what is wrong) of a judge's section.

    `readable` tells of every dataset whether it has text that the judge judges, `path` the file of verdicts
    of a `recorded` judge.
    """
    for name in section.datasets or ():
        if name not in readable:
            yield "datasets", f"no dataset {name}; known: {', '.join(readable)}"
        elif not readable[name]:
            yield "datasets", f"{name} has no text that this judge judges; there is nothing to cut"
    if recorded and path is None and section.verdicts is None:
        yield "verdicts", "this judge has no `path`; name the file with verdicts on prefixes"
    if not recorded and section.verdicts is not None:
        yield "verdicts", "this judge reads the prefixes itself; only a recorded one repeats verdicts"
