"""Rendered HTML as a test reads it: elements with attributes and text, nesting checked on the way."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "img", "br"}


@dataclass
class Element:
    """One element; `parts` is its text, that of its children included."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text content."""
        return "".join(self.parts)

    @property
    def classes(self) -> list[str]:
        """The element's classes."""
        return self.attributes.get("class", "").split()


class Document(HTMLParser):
    """All elements in document order; ValueError where an end tag does not close what is open."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.comments: list[str] = []
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        if self._open:
            raise ValueError(f"never closed: {[element.tag for element in self._open]}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len({name for name, _ in attrs}) != len(attrs):
            raise ValueError(f"an attribute twice in <{tag}>")
        parents = tuple(element.tag for element in self._open)
        element = Element(tag, {name: value or "" for name, value in attrs}, parents)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            raise ValueError(f"</{tag}> at {self.getpos()} closes {[element.tag for element in self._open]}")
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.parts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def find(self, tag: str = "", *classes: str) -> list[Element]:
        """The elements of this tag (any, if "") that have all these classes."""
        return [
            element
            for element in self.elements
            if tag in ("", element.tag) and set(classes) <= set(element.classes)
        ]

    def by_id(self, name: str) -> Element:
        """The one element of this id."""
        (element,) = [element for element in self.elements if element.attributes.get("id") == name]
        return element

    @property
    def ids(self) -> list[str]:
        """All ids."""
        return [element.attributes["id"] for element in self.elements if "id" in element.attributes]

    @property
    def links(self) -> list[str]:
        """All link targets."""
        return [element.attributes["href"] for element in self.elements if "href" in element.attributes]

    @property
    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        """Tag and attribute names of everything but the chips and line breaks that text may bring."""
        return [(e.tag, tuple(e.attributes)) for e in self.elements if e.tag not in ("i", "br")]
