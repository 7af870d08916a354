"""The paraphrase stage by the commands and by the workflow: with a model, offline, killed, and refused."""

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_run import start
from workspace import REPORTED, ROOT, lay_out, ran, snakemake, write_config, write_trial

from coherence.cli import main
from coherence.cli.config_files import parse
from coherence.cli.workflow import Run
from coherence.errors import ConfigError
from coherence.files import read_json
from coherence.records import Transcript
from messages_replies import REWRITES, SOFTLY, message, reworded
from messages_server import CUE, MessagesServer, Received, Response, only_this_key, serving

PROMPTS = ROOT / "config/prompts"
STRAINED = f"But the sum is 7, {CUE}."
FADING = f"But {SOFTLY} the sum is 7, {CUE}."
BEFORE = ["ingest"], ["preprocess"], ["features"], ["judge"], ["gather", "index"], ["gather", "judgements"]
RULES = {"kind": "rules", "of": "rules", "choice": {"confidence": [1, 5]}}
CUES = "I'm confused: the test says 3 rows and I expected 4, but I'll just move on anyway."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MessagesServer]:
    monkeypatch.chdir(tmp_path)
    only_this_key("test-key", monkeypatch, tmp_path)
    with serving() as running:
        yield running


def llm_config(folder: Path, server: MessagesServer, **changes: Any) -> Path:
    """A detector, and a paraphraser of what it flags; `changes` are the paraphraser's."""
    judge = {"kind": "llm", "prompt": str(PROMPTS / "detector.md"), "base_url": server.url}
    paraphraser = {
        "kind": "llm",
        "of": "detector",
        "prompt": str(PROMPTS / "paraphrase.md"),
        "base_url": server.url,
        "choice": {"named": ["kept", "fades", "calm", "ghost"]},
        **changes,
    }
    return write_config(folder, judges={"detector": judge}, paraphrases={"words": paraphraser})


def write_runs(folder: Path) -> None:
    for task, thought in (("kept", STRAINED), ("fades", FADING), ("calm", "All is well.")):
        write_trial(folder / "runs", task, 0.0, thought)


def run_all(config: Path, *stages: list[str]) -> None:
    for stage in stages:
        assert main([*stage, "--config", str(config)]) == 0


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    shown = json.loads((folder / "results/tables/tables.json").read_text())
    (found,) = (one["records"] for one in shown if one["name"] == name)
    return list(found)


def place(folder: Path, name: str = "words") -> Path:
    return folder / "results/small/paraphrased" / name


def test_a_model_rewrites_and_the_same_judge_reads_again(tmp_path: Path, server: MessagesServer) -> None:
    write_runs(tmp_path)
    config = llm_config(tmp_path, server)
    run_all(config, *BEFORE, ["paraphrase"], *REPORTED)
    states = {
        row["task"]: (row["state_before"], row["state_after"]) for row in table(tmp_path, "paraphrase_pairs")
    }
    assert states == {"kept": ("flagged", "flagged"), "fades": ("flagged", "unflagged")}
    (summary,) = table(tmp_path, "paraphrase")
    assert (summary["n_kept"], summary["kept_n"], summary["how"]) == (1, 2, "paraphrase by claude-sonnet-4-6")
    assert summary["not_chosen"] == "1 unflagged, 1 not among those compared"
    assert len(list((tmp_path / "results/pages/small/paraphrased/words").glob("*.html"))) == 2
    assert "Does a flag survive other words?" in (tmp_path / "results/report.html").read_text()
    costs = {row["judge"]: row["calls"] for row in table(tmp_path, "cost")}
    assert costs == {"detector": 3, "paraphrase words": 2, "detector on words": 2}


def test_calls_observations_and_messages_stay_and_every_thought_is_the_models(
    tmp_path: Path, server: MessagesServer
) -> None:
    write_runs(tmp_path)
    run_all(llm_config(tmp_path, server), *BEFORE, ["paraphrase"])
    for path in (place(tmp_path) / "preprocessed").glob("*.json"):
        after = read_json(path, Transcript)
        before = read_json(tmp_path / "results/small/preprocessed" / path.name, Transcript)
        for old, new in zip(before.steps, after.steps, strict=True):
            assert (new.calls, new.observations, new.message) == (old.calls, old.observations, old.message)
            assert [t.text for t in new.thoughts] == [reworded(t.text) for t in old.thoughts]


def test_everything_runs_again_from_the_store_without_server_or_key(
    tmp_path: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_runs(tmp_path)
    config = llm_config(tmp_path, server)
    run_all(config, *BEFORE, ["paraphrase"], ["table"], ["evaluate"])
    calls = len(server.received)
    first = {p: p.read_bytes() for p in (tmp_path / "results/tables").glob("paraphrase*")}
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    shutil.rmtree(tmp_path / "results/small")
    run_all(config, *BEFORE, ["paraphrase"], ["table"], ["evaluate"])
    assert {p: p.read_bytes() for p in (tmp_path / "results/tables").glob("paraphrase*")} == first
    assert len(server.received) == calls


@pytest.mark.parametrize(("stop_reason", "reason"), [("refusal", "refusal"), ("max_tokens", "truncated")])
def test_a_trajectory_of_which_a_thought_failed_is_unjudged_and_no_judge_is_asked(
    stop_reason: str, reason: str, tmp_path: Path, server: MessagesServer
) -> None:
    write_runs(tmp_path)

    def refuse(_: int, received: Received) -> Response | None:
        is_rewriting = any(REWRITES in text for text in received.texts)
        return message(None, stop_reason) if is_rewriting and SOFTLY in received.texts[0] else None

    server.dealers.append(refuse)
    run_all(llm_config(tmp_path, server), *BEFORE, ["paraphrase"], *REPORTED)
    rows = {row["task"]: row for row in table(tmp_path, "paraphrase_pairs")}
    assert (rows["fades"]["state_after"], rows["fades"]["reason_after"]) == ("unjudged", "not_rewritten")
    assert (rows["fades"]["not_rewritten"], rows["kept"]["state_after"]) == (2, "flagged")
    (summary, *_) = table(tmp_path, "paraphrase")
    assert (summary["n_kept"], summary["kept_n"], summary["unjudged"]) == (1, 1, "1 after not rewritten")
    assert [row["reason"] for row in table(tmp_path, "paraphrase_thoughts")].count(reason) == 2
    assert [row["calls"] for row in table(tmp_path, "cost") if row["judge"] == "detector on words"] == [1]


def test_a_failed_call_is_tried_again_by_the_next_run(tmp_path: Path, server: MessagesServer) -> None:
    write_runs(tmp_path)
    config = llm_config(tmp_path, server)
    run_all(config, *BEFORE, ["paraphrase", "choose"])
    server.script.append(Response(b"{}", 400))
    run_all(config, ["paraphrase", "rewrite"])
    lists = sorted((place(tmp_path) / "shards").glob("rewrites-*.jsonl"))
    failed = [path for path in lists if b'"reason":"api"' in path.read_bytes()]
    assert len(failed) == 1
    Run(json.loads(config.read_text()))
    assert [path for path in lists if not path.exists()] == failed


def test_what_an_offline_run_could_not_ask_is_asked_once_replies_may_come(
    tmp_path: Path, server: MessagesServer
) -> None:
    write_runs(tmp_path)
    judge = {"kind": "llm", "prompt": str(PROMPTS / "detector.md"), "base_url": server.url}
    section = {"kind": "rules", "of": "detector", "choice": {"named": ["kept", "fades"]}}
    common: dict[str, Any] = {"judges": {"detector": judge}, "paraphrases": {"cut": section}}
    run_all(write_config(tmp_path, **common), *BEFORE)
    run_all(write_config(tmp_path, offline=True, **common), ["paraphrase"])
    lists = sorted((place(tmp_path, "cut") / "shards").glob("judge-detector-*.jsonl"))
    waiting = [path for path in lists if b'"reason":"not_run"' in path.read_bytes()]
    assert waiting
    Run(json.loads(write_config(tmp_path, offline=True, **common).read_text()))
    assert all(path.exists() for path in lists), "a second run offline has nothing to ask"
    Run(json.loads(write_config(tmp_path, **common).read_text()))
    assert [path for path in lists if not path.exists()] == waiting


def test_an_offline_run_sends_no_thought_even_with_a_key(tmp_path: Path, server: MessagesServer) -> None:
    write_runs(tmp_path)
    online = llm_config(tmp_path, server)
    run_all(online, *BEFORE)
    calls = len(server.received)
    raw = json.loads(online.read_text())
    config = tmp_path / "offline.json"
    config.write_text(json.dumps({**raw, "offline": True}))
    run_all(config, ["paraphrase"], *REPORTED)
    assert len(server.received) == calls

    rows = table(tmp_path, "paraphrase_pairs")
    assert [(row["state_after"], row["reason_after"]) for row in rows] == [("unjudged", "not_run")] * 2
    (summary, *_) = table(tmp_path, "paraphrase")
    assert (summary["kept_n"], summary["unjudged"]) == (0, "2 after not run")
    assert {row["reason"] for row in table(tmp_path, "paraphrase_thoughts")} == {"not_run"}
    assert "2 after not run" in (tmp_path / "results/report.html").read_text()

    lists = sorted((place(tmp_path) / "shards").glob("*.jsonl"))
    waiting = [path for path in lists if b'"reason":"not_run"' in path.read_bytes()]
    Run(json.loads(config.read_text()))
    assert all(path.exists() for path in lists), "a second run offline has nothing to ask"
    Run(json.loads(online.read_text()))
    assert {path for path in lists if not path.exists()} == set(waiting)
    run_all(online, ["paraphrase"], ["table"], ["evaluate"])
    (summary, *_) = table(tmp_path, "paraphrase")
    assert (summary["n_kept"], summary["kept_n"]) == (1, 2)


def test_a_rewriter_that_is_told_to_be_offline_alone_stops_and_says_so(
    tmp_path: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_runs(tmp_path)
    config = llm_config(tmp_path, server, offline=True)
    run_all(config, *BEFORE)
    assert main(["paraphrase", "--config", str(config)]) == 1
    assert "the run is offline" in capsys.readouterr().err


def test_killed_and_resumed_it_ends_as_if_nothing_had_happened(
    tmp_path: Path, server: MessagesServer
) -> None:
    runs = 6
    names = [f"case-{n}" for n in range(runs)]
    for name in names:
        write_trial(tmp_path / "runs", name, 0.0, f"{name}: {STRAINED}", steps=5)
    config = llm_config(tmp_path, server, choice={"named": names}, part_tokens=1, concurrency=2)
    run_all(config, *BEFORE)
    server.delay = 0.05
    kills = 0
    while kills < 3:
        before = len(server.log)
        process = start(tmp_path, "paraphrase")
        while len(server.log) < before + 3 and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        kills += 1
    assert kills == 3
    server.delay = 0.0
    run_all(config, ["paraphrase"], ["table"], ["evaluate"])
    asked = Counter(
        received.digest for received in server.received if any(REWRITES in text for text in received.texts)
    )
    assert len(asked) == runs * 4  # a request a thought
    assert sum(asked.values()) <= len(asked) + kills * 2  # what was under way at a kill is asked twice
    (summary,) = table(tmp_path, "paraphrase")
    assert (summary["n_kept"], summary["kept_n"]) == (runs, runs)
    made = {p.name: p.read_bytes() for p in (place(tmp_path) / "shards").glob("*.jsonl")}
    shutil.rmtree(place(tmp_path))
    run_all(config, ["paraphrase"])
    assert {p.name: p.read_bytes() for p in (place(tmp_path) / "shards").glob("*.jsonl")} == made


def test_the_estimate_and_the_pruning_know_the_paraphraser(
    tmp_path: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_runs(tmp_path)
    config = llm_config(tmp_path, server)
    run_all(config, *BEFORE, ["estimate", "--offline"])
    said = capsys.readouterr().out
    assert "small / paraphrase words: cannot be told yet" in said
    run_all(config, ["paraphrase", "choose"], ["estimate", "--offline"])
    assert "small / paraphrase words (claude-sonnet-4-6)\n  2 of 2 requests" in capsys.readouterr().out
    run_all(config, ["paraphrase"], ["replies", "prune", "--yes"])
    assert "removed 0 files" in capsys.readouterr().err


def test_verdicts_without_text_are_compared_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_runs(tmp_path)
    lines = {"before": ["kept", "fades"], "after": ["kept"]}
    for name, flagged in lines.items():
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(
                json.dumps(
                    {
                        "trial": f"{task}__aBcD123",
                        "state": "flagged" if task in flagged else "unflagged",
                        "spans": [SPAN] if task in flagged else [],
                    }
                )
                + "\n"
                for task in ("kept", "fades", "calm")
            )
        )
    section = {"kind": "recorded", "of": "reader", "verdicts": {"reader": "after.jsonl"}}
    config = write_config(
        tmp_path,
        judges={"reader": {"kind": "recorded", "path": "before.jsonl"}},
        paraphrases={"words": section},
    )
    run_all(config, *BEFORE, ["paraphrase"], *REPORTED)
    (summary,) = (row for row in table(tmp_path, "paraphrase") if row["reading"] == "all")
    assert (summary["n_kept"], summary["kept_n"], summary["spans_before"], summary["spans_after"]) == (
        1,
        2,
        2,
        1,
    )
    assert table(tmp_path, "paraphrase_thoughts") == []
    (page,) = (tmp_path / "results/pages/small/paraphrased/words").glob("kept*.html")
    assert "only the verdicts on it" in page.read_text()


def test_a_recorded_verdict_that_an_api_failed_is_no_call_to_try_again(tmp_path: Path) -> None:
    write_runs(tmp_path)
    line = {"trial": "kept__aBcD123", "state": "flagged", "spans": [SPAN]}
    lost = {**line, "lost": [{"number": 2, "reason": "api"}]}
    for name, said in (("before", line), ("after", lost)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(said) + "\n")
    after = {"reader": str(tmp_path / "after.jsonl")}
    config = write_config(
        tmp_path,
        datasets={"small": {"paths": str(tmp_path / "runs"), "format": "harbor"}},
        results=str(tmp_path / "results"),
        judges={"reader": {"kind": "recorded", "path": str(tmp_path / "before.jsonl")}},
        paraphrases={"words": {"kind": "recorded", "of": "reader", "verdicts": after}},
    )
    run_all(config, *BEFORE, ["paraphrase"])
    (judged,) = (place(tmp_path) / "shards").glob("judge-reader-*.jsonl")
    assert b'"reason":"api"' in judged.read_bytes()
    Run(json.loads(config.read_text()))
    assert judged.exists()


SPAN = {
    "span_id": 1,
    "start_step": 2,
    "end_step": 3,
    "acknowledgment_step": 2,
    "acknowledgment_quote": "the sum is 7",
    "action_step": 2,
    "action_quote": "ls",
    "conflict_type": "other",
    "confidence": 3,
}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no judge": ({**RULES, "of": "ghost"}, "paraphrases.p.of: no judge ghost"),
    "no judge after": ({**RULES, "judges": ["ghost"]}, "paraphrases.p.judges: no judge ghost"),
    "no dataset": ({**RULES, "datasets": ["ghost"]}, "paraphrases.p.datasets: no dataset ghost"),
    "a second look": ({**RULES, "judges": ["look"]}, "paraphrases.p.judges: look looks at spans"),
    "flags of a second look": ({**RULES, "of": "look"}, "paraphrases.p.judges: look looks at spans"),
    "no verdicts": ({"kind": "rules", "of": "read"}, "paraphrases.p.verdicts: judge read repeats"),
    "strange verdicts": ({**RULES, "verdicts": {"read": "x"}}, "paraphrases.p.verdicts: read is not one"),
    "nothing to read": ({"kind": "recorded", "of": "rules"}, "paraphrases.p.path: judge rules reads text"),
    "no kind": ({"kind": "poetry", "of": "rules"}, "one of llm, recorded, removed, rules, not 'poetry'"),
    "a stranger": ({**RULES, "size": 3}, "'size' was unexpected"),
    "a range": ({**RULES, "choice": {"confidence": [0, 9]}}, "paraphrases.p.choice.confidence"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_section_is_named(name: str, tmp_path: Path) -> None:
    section, said = BAD[name]
    look = {"kind": "llm", "prompt": str(PROMPTS / "proxy_goal.md"), "of": "rules"}
    judges = {"rules": {"kind": "rules"}, "read": {"kind": "recorded", "path": "x.jsonl"}, "look": look}
    raw = json.loads(write_config(tmp_path, judges=judges, paraphrases={"p": section}).read_text())
    with pytest.raises(ConfigError) as error:
        parse(raw, "config")
    assert said in str(error.value)


def test_an_unknown_paraphrase_or_judge_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trial(tmp_path / "runs", "a", 0.0, CUES)
    config = write_config(tmp_path, paraphrases={"cut": RULES})
    run_all(config, *BEFORE)
    assert main(["paraphrase", "--paraphrase", "ghost", "--config", str(config)]) == 1
    assert "--paraphrase ghost: not in the config; known: cut" in capsys.readouterr().err
    run_all(config, ["paraphrase", "choose"], ["paraphrase", "rewrite"])
    assert main(["paraphrase", "judge", "--judge", "ghost", "--config", str(config)]) == 1
    assert "the judges of paraphrase cut are rules" in capsys.readouterr().err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished run of the workflow with cue removal and removed reasoning."""
    folder = lay_out(tmp_path_factory.mktemp("paraphrase"))
    write_trial(folder / "runs", "cued", 0.0, CUES)
    write_trial(folder / "runs", "calm", 1.0, "All is well.")
    config = write_config(folder, paraphrases={"cut": RULES, "gone": {**RULES, "kind": "removed"}})
    done = snakemake(folder, "--configfile", str(config))
    assert done.returncode == 0, done.stderr
    yield folder
    shutil.rmtree(folder)


def again(folder: Path) -> list[str]:
    done = snakemake(folder, "--configfile", "small.json")
    assert done.returncode == 0, done.stderr
    return ran(done)


def test_the_workflow_makes_the_tables_offline_and_a_second_run_nothing(made: Path) -> None:
    rows = {row["paraphrase"]: row for row in table(made, "paraphrase_pairs")}
    assert {name: (row["state_before"], row["state_after"]) for name, row in rows.items()} == {
        "cut": ("flagged", "unflagged"),
        "gone": ("flagged", "unflagged"),
    }
    assert {row["how"] for row in rows.values()} == {"cue removal", "reasoning removed"}
    assert again(made) == []


def test_deleted_files_of_the_stage_are_noticed_and_made_the_same(made: Path) -> None:
    cut = place(made, "cut")
    names = ["chosen.jsonl", "thoughts.csv", "judgements/rules.jsonl", "shards/judge-rules-1.jsonl"]
    paths = [*(cut / name for name in names), *(cut / "preprocessed").iterdir()]
    paths += [
        *(made / "results/pages/small/paraphrased/cut").iterdir(),
        made / "results/tables/paraphrase.tex",
    ]
    before = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    again(made)
    assert [path.read_bytes() for path in paths] == before


def test_another_choice_reruns_the_stage_and_what_rests_on_it_alone(made: Path) -> None:
    narrow = {**RULES, "choice": {"named": ["calm"]}}
    write_config(made, paraphrases={"cut": narrow, "gone": {**RULES, "kind": "removed"}})
    rules = again(made)
    assert "choose_paraphrased" in rules
    assert {"ingest", "preprocess", "features", "judge", "table"}.isdisjoint(rules)
    assert not list((place(made, "cut") / "preprocessed").iterdir())
    assert [row["paraphrase"] for row in table(made, "paraphrase_pairs")] == ["gone"]


def test_a_config_without_the_section_makes_nothing_of_it(tmp_path: Path) -> None:
    run = Run({"datasets": {"d": {"paths": str(tmp_path), "format": "harbor"}}, "judges": {}}, is_main=False)
    assert not [path for path in run.targets() if "paraphrase" in path]
