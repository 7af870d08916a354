"""Running one process: its limits hold, and nothing of it is left."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer

import pytest

from coherence.sampling.process import ERRORS_KEPT, Ended, Limits, NotStartedError, run


@pytest.fixture
def held(tmp_path: Path) -> Iterator[int]:
    handle = os.open(tmp_path / "held", os.O_RDWR | os.O_CREAT)
    yield handle
    os.close(handle)


def program(
    code: str,
    held: int,
    *arguments: str,
    given: bytes = b"",
    seconds: float = 20.0,
    most: int = 1000,
    stop: Event | None = None,
) -> Ended:
    command = [sys.executable, "-c", code, *arguments]
    return run(command, given, {"ONLY": "this"}, Limits(seconds, most), stop or Event(), held)


def test_a_process_is_given_its_arguments_stdin_and_environment(held: int) -> None:
    code = (
        "import os, sys; e = os.environ; print([sys.argv[1:], sys.stdin.read(), e.get('ONLY'), len(e) < 4])"
    )
    ended = program(code, held, "a; b $(c)", "*", given=b"given")

    assert ended.output == b"[['a; b $(c)', '*'], 'given', 'this', True]\n"
    assert (ended.code, ended.limit) == (0, None)


@pytest.mark.parametrize(
    ("code", "wanted"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)]
)
def test_how_a_process_ended(held: int, code: str, wanted: int) -> None:
    assert program(code, held).code == wanted


def test_a_process_that_hangs_is_killed(held: int) -> None:
    ended = program("import time; print('begun', flush=True); time.sleep(60)", held, seconds=1.5)

    assert (ended.code, ended.limit, ended.output) == (None, "timeout", b"begun\n")
    assert 1.4 < ended.seconds < 15


def test_a_process_that_closes_its_output_and_hangs_is_killed(held: int) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(60)"

    assert program(code, held, seconds=1.0).limit == "timeout"


def test_a_process_that_writes_without_end_is_killed(held: int) -> None:
    ended = program("while True: print('x' * 1000)", held, most=5000)

    assert ended.limit == "oversized"
    assert len(ended.output) == 5000


def test_a_flood_of_errors_keeps_its_end(held: int) -> None:
    ended = program("import sys; sys.stderr.write('x' * 500_000 + 'end')", held)

    assert (ended.code, len(ended.errors)) == (0, ERRORS_KEPT)
    assert ended.errors.endswith(b"end")


def test_input_that_nobody_reads_is_no_fault(held: int) -> None:
    assert program("print('done')", held, given=b"x" * 2_000_000).output == b"done\n"


def test_children_end_with_the_process_and_do_not_hold_it_up(held: int, tmp_path: Path) -> None:
    late = tmp_path / "late"
    child = f"import time; time.sleep(4); open({str(late)!r}, 'w')"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]); print('done')"
    began = time.monotonic()
    ended = program(code, held)

    assert (ended.code, ended.output) == (0, b"done\n")
    assert time.monotonic() - began < 4
    time.sleep(max(0.0, began + 6 - time.monotonic()))
    assert not late.exists()


def test_a_stop_ends_the_process(held: int) -> None:
    stop = Event()
    Timer(0.3, stop.set).start()

    assert program("import time; time.sleep(60)", held, stop=stop).limit == "stopped"


def test_what_cannot_be_started_is_an_error(held: int) -> None:
    with pytest.raises(NotStartedError, match="no/such"):
        run(["/no/such/program"], b"", {}, Limits(1, 1), Event(), held)


def test_the_file_descriptor_is_the_process_s_too(held: int) -> None:
    code = "import json, os, sys; print(json.dumps(os.fstat(int(sys.argv[1])).st_ino))"

    assert json.loads(program(code, held, str(held)).output) == os.fstat(held).st_ino
