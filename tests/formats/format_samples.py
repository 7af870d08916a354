"""Small documents written for the tests, and short ways to write and read them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coherence.formats import Reading, Source, load
from coherence.formats.deviations import CODES


def put(path: Path, value: Any) -> Path:
    """Write JSON (or text, or bytes as they are) and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def atif(*steps: Any, **fields: Any) -> dict[str, Any]:
    """An ATIF document of these steps, numbered from 1 where they have no step_id."""
    numbered = [{"step_id": n, **step} if isinstance(step, dict) else step for n, step in enumerate(steps, 1)]
    header = {"schema_version": "ATIF-v1.5", "session_id": "agent-session", "agent": {"name": "some-agent"}}
    return {**header, "steps": numbered, **fields}


def said(message: Any = "", **fields: Any) -> dict[str, Any]:
    """An agent step."""
    return {"source": "agent", "message": message, **fields}


def asked(message: Any = "Do it.", **fields: Any) -> dict[str, Any]:
    """A user step."""
    return {"source": "user", "message": message, **fields}


def call(call_id: Any = "c1", name: Any = "terminal", **arguments: Any) -> dict[str, Any]:
    """A tool call."""
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments}


def got(*results: Any) -> dict[str, Any]:
    """An observation of results: (call id, content) pairs, bare contents, or result objects."""
    objects = []
    for result in results:
        if isinstance(result, tuple):
            objects.append({"source_call_id": result[0], "content": result[1]})
        else:
            objects.append(result if isinstance(result, dict) else {"content": result})
    return {"results": objects}


def read_all(name: str, root: Path, **source: Any) -> Iterator[Reading]:
    """Everything below the root."""
    module = load(name)
    for unit in module.discover(root):
        for reading in module.read(root, unit, Source("tested", str(root), **source)):
            assert {deviation.code for deviation in reading.deviations} <= CODES.keys()
            yield reading


def read_one(name: str, root: Path, **source: Any) -> Reading:
    """The only reading below the root."""
    (reading,) = read_all(name, root, **source)
    return reading


def codes(reading: Reading) -> set[str]:
    """The codes of a reading's deviations."""
    return {deviation.code for deviation in reading.deviations}
