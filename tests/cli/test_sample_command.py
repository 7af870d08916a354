"""`coherence sample` with a command: refusals, states, limits, kills, and nothing run twice."""

import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sample_run import files, lines, outcomes, sample, start, write_config

AGENT = """\
import json, os, sys, time
item = json.load(sys.stdin)
with open("log.txt", "a") as file:
    file.write(json.dumps([item["id"], sys.argv[1:], sorted(item), os.environ["COHERENCE_SEED"]]) + "\\n")
exec(item["data"].get("do", "pass"))
print(json.dumps({"answer": int(sys.argv[2]) % 2, "trace": f"{item['id']}/{sys.argv[2]}", "calls": 3}))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path


def items(*programs: str) -> list[dict[str, Any]]:
    return [
        {"id": f"q{n}", "prompt": f"{n}?", "target": 0, "data": {"do": program}}
        for n, program in enumerate(programs)
    ]


def command(**fields: Any) -> dict[str, Any]:
    run = [sys.executable, "agent.py", "{item}", "{sample}", "seed={seed}"]
    return {"run": run, "sandboxed": True, "timeout_seconds": 20, **fields}


def logged(folder: Path) -> list[Any]:
    path = folder / "log.txt"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
def test_a_command_that_nobody_vouches_for_is_not_run(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    write_config(folder, items("pass"), command=command(sandboxed=False))

    assert sample(*arguments) == int(not arguments)
    said = "".join(capsys.readouterr())
    assert "is declared neither `sandboxed` nor `approved`" in said
    assert "set `sandboxed: true` if" in said and "or `approved: true` if" in said
    assert logged(folder) == []


@pytest.mark.parametrize("vouched", [{"sandboxed": True}, {"sandboxed": False, "approved": True}])
def test_a_command_runs_once_for_each_item_and_sample(folder: Path, vouched: dict[str, bool]) -> None:
    write_config(folder, items("pass", "pass"), command=command(seed=7, **vouched), scaffold="mine")
    assert sample() == 0

    assert sorted(line[1] for line in logged(folder)) == [
        [f"q{n}", str(k), f"seed={7 + k}"] for n in range(2) for k in range(3)
    ]
    rows = outcomes(folder)
    assert [row["passed"] for row in rows] == ["true", "false", "true"] * 2
    assert [row["seed"] for row in rows] == ["7", "8", "9"] * 2
    assert rows[1]["trajectory"] == "q0/1" and rows[1]["calls"] == "3" and rows[1]["target"] == "0"
    assert {row["group"] for row in rows} == {"mine"}
    assert [item["actions"] for item in lines(folder, "items")] == [3.0, 3.0]

    first = files(folder)
    assert sample() == 0
    assert len(logged(folder)) == 6
    assert files(folder) == first


def test_the_target_stays_here_unless_it_is_asked_for(folder: Path) -> None:
    write_config(folder, items("pass"), samples=1, command=command())
    assert sample() == 0
    write_config(folder, items("pass"), samples=1, command=command(send_target=True))
    assert sample() == 0

    (without, _), (with_target, _) = ((line[2], line[3]) for line in logged(folder))
    assert "target" not in without and "tolerance" not in without and "prompt" in without
    assert "target" in with_target


def test_the_environment_is_passed_on_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    monkeypatch.setenv("NAMED_KEY", "y")
    write = "open('environment.json', 'w').write(json.dumps(dict(os.environ)))"
    write_config(folder, items(write), samples=1, command=command(environment=["NAMED_KEY", "ABSENT"]))
    assert sample() == 0

    seen = json.loads((folder / "environment.json").read_text())
    assert seen["NAMED_KEY"] == "y" and seen["COHERENCE_ITEM"] == "q0" and seen["PATH"]
    assert "SECRET_KEY" not in seen and "ABSENT" not in seen


def test_no_shell_reads_an_item(folder: Path) -> None:
    name = "x; touch made $(touch made) `touch made` | touch made"
    item = {"id": name, "prompt": "$(touch made)", "target": 0}
    write_config(folder, [item], samples=1, command=command())
    assert sample() == 0

    assert logged(folder)[0][1][0] == name
    assert not (folder / "made").exists()


STATES = {
    "exit": "sys.exit('no \\x1b[31mcontainer')",
    "signal": "os.kill(os.getpid(), 9)",
    "timeout": "time.sleep(60)",
    "oversized": "print('x' * 300_000)",
    "unreadable": "print('rubbish'); sys.exit()",
    "reported": "print(json.dumps({'error': 'the verifier crashed'})); sys.exit()",
    "unparsable": "print(json.dumps({'answer': 'seven'})); sys.exit()",
}


def test_each_way_of_failing_is_a_state_of_its_own_and_never_a_failure(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = {"timeout_seconds": 2, "max_output_bytes": 100_000, "concurrency": 4}
    write_config(folder, items(*STATES.values(), "pass"), samples=1, command=command(**limits))
    assert sample() == 0

    rows = outcomes(folder)
    assert [row["stop_reason"] for row in rows] == [*STATES, ""]
    assert [row["passed"] for row in rows] == [""] * len(STATES) + ["true"]
    assert [item["error"] for item in lines(folder, "items")] == [None] * len(STATES) + [0.0]
    details = [line["sample"].get("detail", "") for line in lines(folder, "samples")]
    assert details[0] == "exit code 1: no \x1b[31mcontainer"
    said = "".join(capsys.readouterr())
    assert "8 samples, 1 answered, 7 not" in said
    assert [c for c in said if not c.isprintable() and c != "\n"] == []

    assert sample() == 0
    assert len(logged(folder)) == 8, "what failed is done too"
    assert sample("--again", "exit", "timeout") == 0
    assert Counter(line[0] for line in logged(folder)) == Counter(f"q{n}" for n in range(8)) + Counter(
        ["q0", "q2"]
    )
    kept = sorted(path.name.split(".")[1] for path in (folder / "results/runs").glob("??/*"))
    assert Counter(kept) == {"json": 8, "replaced-1": 2}


def test_what_belongs_to_the_command_makes_new_runs_and_the_rest_does_not(folder: Path) -> None:
    def runs(**fields: Any) -> int:
        before = len(logged(folder))
        write_config(folder, items("pass"), samples=1, command=command(files=["agent.py"], **fields))
        assert sample() == 0
        return len(logged(folder)) - before

    assert runs() == 1
    assert runs(timeout_seconds=9, concurrency=2, pass_reward=0.5, environment=["LANG"], approved=True) == 0
    assert runs(version="2") == 1
    assert runs(seed=1) == 1
    assert runs(run=[sys.executable, "agent.py", "{item}", "{sample}", "x"]) == 1
    (folder / "agent.py").write_text(AGENT + "\n# changed\n")
    assert runs() == 1


def wait_for(folder: Path, number: int, done: int = 0) -> None:
    """Wait until so many commands have begun and so many runs are kept."""
    until = time.monotonic() + 30
    while len(logged(folder)) < number or kept(folder) < done:
        assert time.monotonic() < until, (folder / "stderr").read_text()
        time.sleep(0.02)


def kept(folder: Path) -> int:
    return len(list((folder / "results/runs").glob("??/*.json")))


def test_a_kill_loses_only_what_was_running(folder: Path) -> None:
    slow = items(*["time.sleep(0.1)"] * 10)
    write_config(folder, slow, samples=2, command=command(concurrency=2))
    process = start(folder)
    wait_for(folder, 6)
    process.kill()
    process.wait()
    time.sleep(1)  # the commands under way end by themselves; nobody keeps what they write
    done, begun = kept(folder), len(logged(folder))
    assert 4 <= done < 20 and begun - done <= 2

    assert sample() == 0
    assert len(logged(folder)) == 20 + begun - done
    assert len(outcomes(folder)) == kept(folder) == 20
    assert not list((folder / "results/runs").glob("??/*.begun"))


def test_a_command_that_outlives_a_killed_run_is_not_run_beside_itself(folder: Path) -> None:
    waiting = "while not os.path.exists('go'): time.sleep(0.05)"
    write_config(folder, items(waiting, "pass"), samples=1, command=command(concurrency=2))
    process = start(folder)
    wait_for(folder, 2, done=1)
    process.kill()
    process.wait()

    assert sample() == 0
    assert [row["stop_reason"] for row in outcomes(folder)] == ["running", ""]
    assert Counter(line[0] for line in logged(folder))["q0"] == 1
    (folder / "go").touch()
    until = time.monotonic() + 30
    while outcomes(folder)[0]["stop_reason"] == "running" and time.monotonic() < until:
        time.sleep(0.1)
        assert sample() == 0
    assert [row["passed"] for row in outcomes(folder)] == ["true", "true"]


def test_what_may_have_acted_is_not_run_again_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    approved = command(sandboxed=False, approved=True)
    write_config(folder, items("time.sleep(1)", "pass"), samples=1, command=approved)
    process = start(folder)
    wait_for(folder, 1)
    process.kill()
    process.wait()
    time.sleep(2)

    assert sample() == 0
    assert [row["stop_reason"] for row in outcomes(folder)] == ["interrupted", ""]
    assert Counter(line[0] for line in logged(folder)) == {"q0": 1, "q1": 1}
    capsys.readouterr()
    assert sample("--dry-run") == 0
    assert "1 were begun and killed and may have acted" in capsys.readouterr().out
    assert sample("--again", "interrupted") == 0
    assert [row["passed"] for row in outcomes(folder)] == ["true", "true"]
    assert Counter(line[0] for line in logged(folder)) == {"q0": 2, "q1": 1}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_commands_under_way(folder: Path, number: signal.Signals) -> None:
    late = "time.sleep(4); open('late', 'w')"
    write_config(folder, items(late, late, late), samples=1, command=command(concurrency=2))
    process = start(folder)
    wait_for(folder, 2)
    began = time.monotonic()
    os.kill(process.pid, number)

    assert process.wait() == 130
    assert time.monotonic() - began < 3
    assert "what is done is kept" in (folder / "stderr").read_text()
    time.sleep(5)
    assert not (folder / "late").exists()
    assert len(logged(folder)) == 2


def test_stopping_early_runs_no_more_than_it_needs(folder: Path) -> None:
    same = "print(json.dumps({'tests': '1101'})); sys.exit()"
    rule = {"rule": "certify", "bound": 0.46}
    write_config(folder, items(same, "pass"), samples=8, stopping=rule, command=command(concurrency=2))
    assert sample() == 0

    assert [(item["drawn"], item["stop"]) for item in lines(folder, "items")] == [
        (5, "certified"), (8, "all drawn")
    ]  # fmt: skip
    assert len(logged(folder)) == 13
    assert Counter(row["task"] for row in outcomes(folder)) == {"q0": 5, "q1": 5}


def test_a_dry_run_lists_the_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_config(folder, items("pass"), samples=1, command=command())
    assert sample() == 0
    write_config(folder, items("pass"), samples=30, command=command())
    capsys.readouterr()
    assert sample("--dry-run") == 0

    out = capsys.readouterr().out
    assert "1 runs are in results/runs already" in out and "29 commands would run" in out
    assert f"  q0: {sys.executable} agent.py q0 1 seed=1\n" in out
    assert "... and 9 more" in out
    assert len(logged(folder)) == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"run": ["no-such-program"]}, "no program 'no-such-program'"),
        ({"run": ["{item}"]}, "which an item would choose"),
        ({"files": ["absent.py"]}, "absent.py cannot be read"),
    ],
)
def test_a_command_that_cannot_be_run_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], fields: dict[str, Any], words: str
) -> None:
    write_config(folder, items("pass"), command=command(**fields))

    assert sample() == 1
    assert words in capsys.readouterr().err


def test_what_the_system_cannot_start_is_tried_again(folder: Path) -> None:
    program = folder / "broken"
    program.write_bytes(b"\x7fELF no program")
    program.chmod(0o755)
    write_config(folder, items("pass"), samples=1, command=command(run=[str(program)]))

    assert sample() == 1
    assert [row["stop_reason"] for row in outcomes(folder)] == ["not_started"]
    assert kept(folder) == 0 and not list((folder / "results/runs").glob("??/*.begun"))
