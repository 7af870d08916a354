"""The templates and the one environment they are rendered in."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from coherence.files import without_surrogates
from coherence.report import inert
from coherence.report.marks import Piece, pieces
from coherence.vocabulary import MAX_CONFIDENCE

LONGEST_QUOTE: Final = 1_000  # characters of a quote or a judge's remark shown outside its place
LONGEST_NAME: Final = 120  # characters of a test's name
CUT: Final = "…"


def page_href(dataset: str, trajectory: str, step: int) -> str:
    """Return the percent-encoded relative link from the report to a step on a trajectory's page."""
    return f"{pages_href((dataset, trajectory))}#step-{step:d}"


def page_file(trajectory: str) -> str:
    """Return the percent-encoded name of a trajectory's page."""
    return f"{quote(without_surrogates(trajectory), safe='')}.html"


def pages_href(place: Sequence[str]) -> str:
    """Return the percent-encoded relative link from the report to a page."""
    return f"pages/{'/'.join(quote(without_surrogates(part), safe='') for part in place)}.html"


def render(template: str, **values: Any) -> str:
    """Return the rendered template: autoescaped, every printed text without hidden characters."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("coherence.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=inert.finalised,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "page_href": page_href,
        "pages_href": pages_href,
        "page_file": page_file,
        "highest_confidence": MAX_CONFIDENCE,
    }
    environment.filters |= {
        "shown": inert.shown,
        "call_shown": inert.call_shown,
        "shortened": _shortened,
        "without_middle": _without_middle,
        "words": _words,
        "thousands": _thousands,
        "few": _few,
    }
    return environment


def _shortened(text: str) -> tuple[Piece, ...]:
    return pieces(text, limit=LONGEST_QUOTE)


def _without_middle(name: str, longest: int = LONGEST_NAME) -> str:
    """Return the name, cut to head and tail: a test's file stands first, and what tells tests apart last."""
    if len(name) <= longest:
        return name
    head = (longest - len(CUT)) // 3
    return name[:head] + CUT + name[head + len(name) - longest + len(CUT) :]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _thousands(number: int) -> str:
    return f"{number:,}"


def _few(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
