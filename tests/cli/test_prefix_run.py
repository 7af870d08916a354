"""Growing prefixes by config alone: in plain code, by a model behind a server, and from a file."""

import csv
import json
import re
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fault_run import start
from workspace import REPORTED, ROOT, lay_out, ran, snakemake, write_config, write_trial

from coherence.cli import main
from coherence.cli.workflow import Run
from coherence.errors import ConfigError
from coherence.files import read_json, read_lines
from coherence.judges.frame import framed
from coherence.judges.prefixes import cut_after
from coherence.llm.ledger import read_ledger
from coherence.llm.store import Reply, ReplyStore
from coherence.records import PrefixJudgement, Transcript
from messages_server import CUE, MessagesServer, failure, only_this_key, serving

STAGES = (
    *(["ingest"], ["preprocess"], ["features"], ["judge"], ["prefix"], ["gather", "prefixes"]),
    *REPORTED,
)
WORDS = "results/small/prefixes/detector.jsonl"
# The first acting step of each run is its second; the server flags a thought with CUE and the call after it.
RUNS = {"bad": (0.0, f"The sum is 7, {CUE}.", 6), "good": (1.0, "The sum is right.", 6)}


def stage(path: Path, *stages: list[str]) -> None:
    for arguments in stages:
        assert main([*arguments, "--config", str(path)]) == 0


def write_runs(folder: Path) -> None:
    for name, (reward, thought, steps) in RUNS.items():
        write_trial(folder / "runs", name, reward, thought, steps)


def config(folder: Path, server: MessagesServer, **grid: Any) -> Path:
    judge = {"kind": "llm", "prompt": f"{ROOT}/config/prompts/detector.md", "base_url": server.url}
    return write_config(folder, judges={"detector": judge}, prefixes={"detector": grid or {"every": 2}})


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"results/tables/{name}.csv").open() as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    write_runs(tmp_path)
    return tmp_path


def test_a_model_reads_each_prefix_once_and_never_the_whole_again(folder: Path) -> None:
    with serving() as server:
        path = config(folder, server)
        stage(path, *STAGES)
        # Two wholes, and of each run the prefixes of 2 and 4 of its 6 steps.
        assert len(server.received) == 6
        stage(path, *STAGES)
        assert len(server.received) == 6
    words = list(read_lines(folder / WORDS, PrefixJudgement))
    found = {(word.trajectory[:3], word.steps_read): word.state for word in words}
    assert found == {
        ("bad", 2): "flagged", ("bad", 4): "flagged", ("goo", 2): "unflagged", ("goo", 4): "unflagged",
    }  # fmt: skip
    (halted,) = rows(folder, "monitor")
    assert (halted["failures_stopped"], halted["failures_n"], halted["passes_lost"]) == ("1", "1", "0")
    assert (halted["steps_saved"], halted["steps_of_failures"]) == ("4", "6")


def test_what_was_sent_ends_with_the_prefix(folder: Path) -> None:
    with serving() as server:
        stage(config(folder, server), *STAGES[:6])
    store = ReplyStore(folder / "results/replies")
    for word in read_lines(folder / WORDS, PrefixJudgement):
        path = folder / f"results/small/preprocessed/{word.trajectory}.json"
        cut = cut_after(read_json(path, Transcript), word.after_step)
        assert word.reply is not None
        reply = read_json(store.path(word.reply), Reply)
        assert reply.request.messages[0]["content"][0]["text"] == framed(cut)
        assert max(step.number for step in cut.steps) == word.after_step


def test_a_failed_call_leaves_the_prefix_unjudged_and_is_tried_again(folder: Path) -> None:
    with serving() as server:
        path = config(folder, server)
        stage(path, *STAGES[:4])
        server.script.append(failure(400, "invalid_request_error", "a bad field"))
        stage(path, *STAGES[4:])
        states = [word.state for word in read_lines(folder / WORDS, PrefixJudgement)]
        assert states.count("unjudged") == 1
        shards = sorted((folder / "results/small/shards").glob("prefix-*.jsonl"))
        failed = [shard for shard in shards if b'"reason":"api"' in shard.read_bytes()]
        Run(json.loads(path.read_text()))
        assert [shard for shard in shards if not shard.exists()] == failed
        stage(path, *STAGES[4:])
    assert {w.state for w in read_lines(folder / WORDS, PrefixJudgement)} == {"flagged", "unflagged"}


def test_what_stopped_goes_on_where_it_was(folder: Path) -> None:
    with serving() as server:
        path = config(folder, server)
        settings = json.loads(path.read_text())
        settings["judges"]["detector"] |= {"concurrency": 1}
        path.write_text(json.dumps(settings))
        stage(path, *STAGES[:4])
        assert len(server.received) == 2
        server.dealers.append(
            lambda number, _: failure(401, "authentication_error", "no") if number == 3 else None
        )
        assert main(["prefix", "--config", str(path)]) == 1
        assert len(server.received) == 4  # one prefix answered and stored, one turned away, then no more
        stage(path, *STAGES[4:])
        assert len(server.received) == 7
    assert {w.state for w in read_lines(folder / WORDS, PrefixJudgement)} == {"flagged", "unflagged"}


def test_a_kill_loses_what_was_under_way_alone(folder: Path) -> None:
    for number in range(4):
        write_trial(folder / "runs", f"more-{number}", 0.0, f"more-{number}: the sum is 7, {CUE}.", 6)
    with serving() as server:
        path = config(folder, server)
        settings = json.loads(path.read_text())
        settings["judges"]["detector"] |= {"concurrency": 2}
        path.write_text(json.dumps(settings))
        stage(path, *STAGES[:4])
        whole = len(server.received)
        server.delay = 0.2
        process = start(folder, "prefix")
        while process.poll() is None and len(server.log) < whole + 5:
            time.sleep(0.01)
        process.kill()  # kill -9
        assert process.wait() == -signal.SIGKILL
        while server.busy:
            time.sleep(0.01)
        assert not (folder / WORDS).exists()
        server.delay = 0.0
        stage(path, *STAGES[4:6])
        asked = Counter(received.digest for received in server.received[whole:])
    assert len(asked) == 2 * 6  # of each of six runs the prefixes of 2 and 4 of its 6 steps
    assert sum(asked.values()) <= len(asked) + 2  # as many twice as were under way
    words = list(read_lines(folder / WORDS, PrefixJudgement))
    assert len(words) == 2 * 6
    assert {word.state for word in words if not word.trajectory.startswith("good")} == {"flagged"}
    assert len(list(ReplyStore(folder / "results/replies").replies())) == whole + len(asked)


def test_the_calls_have_a_name_of_their_own_in_the_ledger(folder: Path) -> None:
    with serving() as server:
        stage(config(folder, server), *STAGES)
    labels = [charge.label for charge in read_ledger(folder / "results/ledger.csv")]
    assert sorted(set(labels)) == ["small/detector", "small/detector on prefixes"]
    assert {row["judge"] for row in rows(folder, "cost")} == {"detector", "detector on prefixes"}


def test_estimate_and_prune_know_the_prefixes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as server:
        path = config(folder, server)
        stage(path, *STAGES[:4])
        capsys.readouterr()
        stage(path, ["estimate", "--offline"])
        assert "small / detector on prefixes (claude-sonnet-4-6)\n  4 of 4" in capsys.readouterr().out
        stage(path, *STAGES[4:6], ["replies", "prune", "--yes"])
    assert len(list(ReplyStore(folder / "results/replies").replies())) == 6


def test_recorded_prefixes_give_the_same_tables(folder: Path) -> None:
    with serving() as server:
        stage(config(folder, server), *STAGES, ["gather", "judgements"])
    first = (folder / "results/tables/prefix.csv").read_bytes()
    kept = folder / "kept"
    kept.mkdir()
    for name in ("judgements", "prefixes"):
        (kept / f"{name}.jsonl").write_bytes((folder / f"results/small/{name}/detector.jsonl").read_bytes())
    path = write_config(
        folder,
        judges={"detector": {"kind": "recorded", "path": "kept/judgements.jsonl"}},
        prefixes={"detector": {"every": 2, "verdicts": "kept/prefixes.jsonl"}},
    )
    stage(path, *STAGES)
    assert (folder / "results/tables/prefix.csv").read_bytes() == first


def test_the_trace_names_the_replies_of_each_prefix(folder: Path) -> None:
    with serving() as server:
        stage(config(folder, server), *STAGES)
    traced = json.loads((folder / "results/provenance.json").read_text())["datasets"]["small"]
    replies = {word.reply for word in read_lines(folder / WORDS, PrefixJudgement)}
    named = {part for origin in traced for part in origin["judges"]["detector on prefixes"]}
    assert replies <= named


@pytest.mark.parametrize(
    ("prefixes", "said"),
    [
        ({"other": {"every": 2}}, "prefixes.other: no such judge; known: rules, human, second-look"),
        ({"rules": {}}, "exactly one of `every`, `parts` and `at`"),
        ({"rules": {"every": 2, "datasets": ["big"]}}, "no dataset big; known: small"),
        ({"rules": {"every": 2, "verdicts": "x.jsonl"}}, "only a recorded one repeats verdicts"),
        ({"rules": {"evry": 2}}, "'evry' was unexpected"),
        ({"second-look": {"every": 2}}, "which would be hindsight"),
    ],
    ids=["judge", "no grid", "dataset", "verdicts", "key", "of another"],
)
def test_a_wrong_section_is_named(prefixes: dict[str, Any], said: str, tmp_path: Path) -> None:
    judges = {
        "rules": {"kind": "rules"},
        "human": {"kind": "recorded", "path": "labels.jsonl"},
        "second-look": {"kind": "llm", "prompt": "p.md", "of": "rules"},
    }
    with pytest.raises(ConfigError, match=re.escape(said)):
        Run(json.loads(write_config(tmp_path, judges=judges, prefixes=prefixes).read_text()))


def test_a_run_as_the_user_runs_it(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    done = snakemake(folder, "--configfile", "config/prefix.yaml")
    assert done.returncode == 0, done.stderr
    assert ran(done).count("prefix") == 4
    report = (folder / "results/prefix/report.html").read_text()
    assert "How early is it flagged without hindsight?" in report
    assert "True lead time, example-model-a" in report
    assert (folder / "results/prefix/figures/example-model-b.prefix.png").is_file()
    again = snakemake(folder, "--configfile", "config/prefix.yaml")
    assert ran(again) == []
    kept = folder / "results/prefix/example-model-a/prefixes/rules.jsonl"
    before = kept.read_bytes()
    kept.unlink()
    other = msgspec.json.encode({"prefixes": {"rules-at-once": {"parts": 2}}})
    (folder / "other.json").write_bytes(other)
    done = snakemake(folder, "--configfile", "config/prefix.yaml", "other.json")
    assert {"gather_prefixes", "evaluate", "figures", "report"} <= set(ran(done))
    assert not {"ingest", "preprocess", "judge"} & set(ran(done))
    assert ran(done).count("prefix") == 2
    assert kept.read_bytes() == before
