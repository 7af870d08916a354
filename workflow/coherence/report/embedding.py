"""Figures inside a document: the same picture in fewer bytes, as an address that loads nothing.

What matplotlib writes is long: each letter is an element, every group has an id, every point a line. Here ids
are short and only where something refers to them; groups and spaces that say nothing are left out. Numbers
stay as they are: with two decimals a figure is 7 % shorter, but pixels at the edges of letters change.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote
from xml.etree.ElementTree import Element, fromstring
from xml.sax.saxutils import escape

from markupsafe import Markup

SVG: Final = "{http://www.w3.org/2000/svg}"
XLINK: Final = "{http://www.w3.org/1999/xlink}"
PLAIN: Final = " !$'()*+,/:;=?@"  # beside letters and digits, what stands in an address as it is
_COMMAND: Final = re.compile(r"\s*([A-Za-z])\s*")
_MARK: Final = re.compile(r"\s*([:;])\s*")
_PAINT: Final = re.compile(r"(url\(#)([^)]+)")
_ADDRESS: Final = re.compile(r"(^#)(.+)")  # in links alone: a colour is written so too
_QUOTE: Final = {"'": "&apos;"}
_ALONG: Final = re.compile(r"translate\((-?[\d.]+) 0\)")


def embedded(svg: bytes) -> Markup:
    """Return a figure as the address of an image, to stand in double quotes; ParseError if it is no XML."""
    # Nothing that ends an attribute or begins an entity is left to escape.
    return Markup(f"data:image/svg+xml,{quote(compact(svg), safe=PLAIN)}")  # noqa: S704


def compact(svg: bytes) -> str:
    """Return the same picture in fewer bytes; ParseError if it is no XML."""
    root = fromstring(svg)  # noqa: S314 - drawn by this program
    referred = [
        found
        for element in root.iter()
        for name, value in element.attrib.items()
        for _, found in _reference(name).findall(value)
    ]
    names = {name: _short(number) for number, name in enumerate(dict.fromkeys(referred))}
    return "".join(_written(root, names, xmlns=SVG.strip("{}") if root.tag.startswith(SVG) else ""))


def _reference(attribute: str) -> re.Pattern[str]:
    return _ADDRESS if attribute.removeprefix(XLINK) == "href" else _PAINT


def _short(number: int) -> str:
    """Return a name of letters: a to z, then ba, bb and so on."""
    letter = chr(ord("a") + number % 26)
    return letter if number < 26 else _short(number // 26) + letter


def _written(element: Element, names: Mapping[str, str], xmlns: str = "") -> Iterator[str]:
    tag = element.tag.removeprefix(SVG)
    if tag == "metadata":
        return
    attributes = dict(_attributes(element, tag, names))
    inside = escape((element.text or "").strip())
    inside += "".join(part for child in element for part in _written(child, names))
    if tag == "g" and not attributes:
        yield inside
        return
    attributes = {"xmlns": xmlns, **attributes} if xmlns else attributes
    said = "".join(f" {name}='{escape(value, _QUOTE)}'" for name, value in attributes.items())
    yield f"<{tag}{said}>{inside}</{tag}>" if inside else f"<{tag}{said}/>"


def _attributes(element: Element, tag: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for full, value in element.attrib.items():
        name = full.removeprefix(XLINK)
        along = _ALONG.fullmatch(value) if tag == "use" and name == "transform" else None
        if name == "id":
            yield from [(name, names[value])] if value in names else []
        elif along:
            yield "x", along[1]  # a letter's place in its line
        elif name == "d":
            yield name, _COMMAND.sub(r"\1", " ".join(value.split()))
        else:
            told = _reference(name).sub(lambda found: f"{found[1]}{names[found[2]]}", value)
            yield name, _MARK.sub(r"\1", told) if name == "style" else told
