"""The test server in a process of its own, so that what is measured shares no interpreter with it."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def server_process(*options: str) -> Iterator[str]:
    """The URL of a test server in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("messages_server.py")), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as response:
        data: bytes = response.read()
    return data


def stats(url: str) -> dict[str, Any]:
    """What the server counted."""
    counted: dict[str, Any] = json.loads(fetch(f"{url}/stats"))
    return counted
