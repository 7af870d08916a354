"""Figures embedded: the same shapes at the same places, in fewer bytes, and nothing to escape."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from io import BytesIO
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, fromstring

import pytest
from matplotlib.figure import Figure

from coherence.figures.style import style
from coherence.report.embedding import SVG, XLINK, compact, embedded


def drawn() -> bytes:
    buffer = BytesIO()
    with style():
        made = Figure(figsize=(4, 3))
        axes = made.add_subplot()
        axes.plot([0, 1, 2], [0.123456, 1, 0.5], marker="o", linestyle="--")
        axes.fill_between([0, 2], [0, 0.2], alpha=0.2)
        axes.set_title("""it's <5 "points" & 7 % of a#b""")
        axes.imshow([[0, 1], [1, 0]], extent=(0, 1, 0, 1))
        made.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def shapes(svg: bytes | str) -> list[tuple[str, list[float]]]:
    """Every shape in the order it is painted: what it is, its own numbers and those of where it is put."""
    root = fromstring(svg)
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
    return list(_painted(root, [], by_id))


def _painted(
    element: Element, above: list[float], by_id: Mapping[str | None, Element]
) -> Iterator[tuple[str, list[float]]]:
    tag = element.tag.removeprefix(SVG)
    if tag in ("defs", "metadata", "clipPath"):
        return
    # A translation without scale and the attributes x and y are two ways to say the same.
    moved = element.get("transform", "").replace(" 0)", ")") if tag == "use" else element.get("transform", "")
    here = [*above, *_figures(" ".join([moved, element.get("x", ""), element.get("y", "")]))]
    if tag == "use":
        shown = by_id[(element.get("href") or element.get(f"{XLINK}href") or "")[1:]]
        yield from _painted(shown, here, by_id)
    elif tag in ("path", "image"):
        letters = re.findall("[A-Za-z]", element.get("d", ""))
        styled = re.sub(r"\s", "", element.get("style", ""))
        yield f"{tag} {''.join(letters)} {styled}", [*here, *_figures(element.get("d", ""))]
    for child in element:
        yield from _painted(child, here, by_id)


def _figures(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]


def test_the_same_shapes_stand_at_the_same_places() -> None:
    before, after = shapes(drawn()), shapes(compact(drawn()))
    assert len(before) > 50
    assert after == before


def test_it_is_at_most_two_thirds_as_long_as_in_base64() -> None:
    assert len(embedded(drawn())) < len(b64encode(drawn())) * 2 / 3


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert embedded(drawn()) == embedded(drawn())


def test_the_address_needs_no_escape_and_holds_the_picture() -> None:
    head, _, data = str(embedded(drawn())).partition(",")
    assert head == "data:image/svg+xml"
    assert set(data) & set('<>"&#\n\t') == set()
    assert data.isascii()
    assert unquote(data) == compact(drawn())


@pytest.mark.parametrize(
    ("svg", "made"),
    [
        ("<svg>\xe9 &amp; &lt;</svg>", "<svg>\xe9 &amp; &lt;</svg>"),
        ("<svg><g id='x'><g><path d='M 1.0 2.128\nz'/></g></g></svg>", "<svg><path d='M1.0 2.128z'/></svg>"),
        (
            "<svg><path id='long' d='M 0 1'/><use href='#long'/></svg>",
            "<svg><path id='a' d='M0 1'/><use href='#a'/></svg>",
        ),
        (
            "<svg><g clip-path='url(#q)'/><use href='#r' transform='translate(1.239 0)'/></svg>",
            "<svg><g clip-path='url(#a)'/><use href='#b' x='1.239'/></svg>",
        ),
        (
            "<svg><use href='#r' transform='translate(1 2)'/><g style='fill: url(#r); stroke: red'/></svg>",
            "<svg><use href='#a' transform='translate(1 2)'/><g style='fill:url(#a);stroke:red'/></svg>",
        ),
        ("<svg><rect id='r' fill='#a1b2c3'/></svg>", "<svg><rect fill='#a1b2c3'/></svg>"),
        ('<svg><path style="x: \'&quot;&lt;"/></svg>', "<svg><path style='x:&apos;\"&lt;'/></svg>"),
    ],
    ids=["text", "groups", "names", "references", "styles", "colours", "quotes"],
)
def test_what_is_left(svg: str, made: str) -> None:
    assert compact(svg.encode()) == made


def test_what_is_no_xml_is_refused() -> None:
    with pytest.raises(ParseError):
        compact(b"<svg>")
