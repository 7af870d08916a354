"""Tool calls as chat completions have them: an id, and a function with its arguments in a string."""

from collections.abc import Iterator

from coherence.formats import narrow
from coherence.formats.arguments import read_arguments
from coherence.formats.deviations import Deviations
from coherence.formats.documents import decode
from coherence.records import Call


def read_calls(raw_calls: object, notes: Deviations) -> Iterator[Call]:
    """Yield the calls of an assistant message."""
    for raw in narrow.objects(raw_calls, "tool_calls", notes):
        function = narrow.mapping(raw.get("function"), "function", notes)
        name = narrow.text(function.get("name"), "name", notes)
        if not name:
            notes.add("call_unnamed")
        call_id = narrow.text(raw.get("id"), "id", notes)
        arguments = _parsed(function.get("arguments"))
        yield Call(name or "", read_arguments(arguments, notes), call_id or None)


def _parsed(arguments: object) -> object:
    """Parse arguments written as JSON in a string; what cannot be parsed stays a string."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return decode(arguments.encode(), Deviations(""))
    except (ValueError, RecursionError):
        return arguments
