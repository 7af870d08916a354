"""`coherence inspect` on tables: outcomes and verdicts told apart, and a config that the workflow reads."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from workspace import ROOT

from coherence.cli import main
from coherence.cli.config import Config
from coherence.cli.config_files import parse
from coherence.cli.outcomes import source_of
from coherence.cli.plan import plan
from coherence.incoherence.reading import read_outcomes

QUESTIONS = "question,agent,choice,key,mood\n" + "".join(
    f"q{number % 5},a,{'A' if number % 3 else 'B'},A,calm\n" for number in range(20)
)


def inspected(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["inspect", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def facts(text: str) -> dict[str, str]:
    """The lines of the first table by label; a line without one belongs to the label above."""
    lines = [line for line in text.split("\n\n", maxsplit=1)[0].splitlines() if not line.startswith(" ")]
    return {label: said.strip() for label, _, said in (line.partition("  ") for line in lines)}


def pasted(text: str) -> Config:
    """The printed config as the workflow reads it: every file, column and path in it is looked at."""
    raw: dict[str, Any] = yaml.safe_load(text[text.index("\n\nTo use it") :].split("\n\n", maxsplit=2)[2])
    config: Config = parse(raw, "pasted")
    for name, section in config.outcomes.items():
        assert len(read_outcomes(Path(section.path), source_of(name, section)).frame)
    for name in config.datasets:
        assert plan(config, name)
    return config


def test_a_file_of_outcomes(capsys: pytest.CaptureFixture[str]) -> None:
    text = inspected(capsys, ROOT / "data/outcomes/gsm-plus.csv.gz")
    told = facts(text)
    assert told["format"] == "outcomes"
    assert told["attempts"] == "7,146"
    assert told["groups"].startswith("6: gpt-4 impr_prompt+impr_topology 1,199, ")
    assert "1,173 with 6 attempts each" in told["attempts a task"]
    assert told["outcomes"] == "passed 6,265, failed 881, unknown 0"
    assert told["kinds of outcome"] == "answer 7,111; passed 7,146; the first is taken apart"
    assert told["scatter"].startswith("can be seen in 1,197 of 1,199 tasks of a group")
    assert "35 rows: mixed outcome types" in told["left out or unknown"]
    assert "2 cells: one attempt with an outcome" in text
    assert list(pasted(text).outcomes) == ["gsm-plus"]


def test_what_cannot_be_seen_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "once.csv").write_text("task,passed\na,1\nb,0\nc,\n")
    told = facts(inspected(capsys, tmp_path / "once.csv"))
    assert told["outcomes"] == "passed 1, failed 1, unknown 1"
    assert told["kinds of outcome"].endswith("a function of the pass rates")
    assert told["scatter"].startswith("cannot be seen")


def test_columns_of_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(QUESTIONS)
    assert main(["inspect", str(path)]) == 1
    assert "no column 'task' among: question, agent, choice, key, mood" in capsys.readouterr().err
    named = ["task=question", "group=agent", "answer=choice", "target=key"]
    text = inspected(capsys, path, "--columns", *named[:2], "--columns", *named[2:])
    told = facts(text)
    assert told["columns read"] == "question, agent, choice, key"
    assert told["columns not known"].startswith("mood; ")
    assert told["outcomes"] == "passed 13, failed 7, unknown 0"
    mapped = pasted(text).outcomes["mine"].columns
    assert [f"{field}={column}" for field, column in mapped.items()] == named


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["tusk=question"], "--columns tusk=question: write FIELD=COLUMN, the field one of "),
        (["task"], "--columns task: write FIELD=COLUMN"),
        (["task=item", "passed=key"], "there is no column 'item' among: question"),
        (["task=question", "flagged=key"], "no column"),
        (["task=question", "task=key"], "--columns task=key: task is said to be question already"),
    ],
    ids=["unknown field", "no pair", "unknown column", "verdict", "twice"],
)
def test_a_wrong_name_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pairs: list[str], said: str
) -> None:
    (tmp_path / "mine.csv").write_text(QUESTIONS)
    assert main(["inspect", str(tmp_path / "mine.csv"), "--columns", *pairs]) == 1
    assert said in capsys.readouterr().err


def test_a_table_of_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    text = inspected(capsys, ROOT / "data/tau-bench/airline.csv")
    told = facts(text)
    assert told["format"] == "table"
    assert told["id"] == "run, which differs in every row"
    assert told["outcomes"] == "failed 116, passed 84 (by reward)"
    assert told["attempts"] == "50 tasks (50 with 4 attempts each)"
    assert told["repeated outcomes"].startswith("scatter can be seen in 50 of 50 tasks of a group")
    assert told["verdicts"] == "unflagged 191, flagged 9"
    assert told["columns not known"].startswith("trial, agent_steps, calls, ")
    assert told["power"].startswith("with 9 of 200 trajectories with a known outcome flagged (4.5%")
    config = pasted(text)
    assert config.name == "airline"
    assert config.datasets["airline"].verdict_columns["recorded"]["flagged"] == "flagged"
    assert config.judges_of("airline") == ["recorded"]


def test_a_folder_of_tables_whose_outcome_has_another_name(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "data/replication"
    told = facts(inspected(capsys, folder))
    assert told["outcomes"].startswith("unknown 64: what says it? True or false are resolved, ")
    text = inspected(capsys, folder, "--columns", "passed=resolved")
    assert facts(text)["outcomes"] == "failed 32, passed 32 (by resolved)"
    assert list(pasted(text).datasets) == ["wave-1", "wave-2"]


def test_a_folder_of_outcomes_of_every_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "task,passed\na,1\na,0\n"
    (tmp_path / "repeats.csv").write_text(rows)
    (tmp_path / "more").mkdir()
    (tmp_path / "more/repeats.tsv").write_text(rows.replace(",", "\t"))
    (tmp_path / "more/Two words.csv.gz").write_bytes(gzip.compress(rows.encode()))
    pd.DataFrame({"task": ["a", "a"], "reward": [1.0, 0.0]}).to_parquet(tmp_path / "one.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "package.json").write_text("{}")
    assert main(["inspect", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert list(pasted(said.out).outcomes) == ["one", "repeats-runs", "two-words", "repeats-runs-2"]
    assert "left out: " in said.err
    assert "broken.parquet: cannot be read" in said.err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", "there is no header"),
        ("header.tsv", b"task\tpassed\n", "there are no rows"),
        ("x.csv.gz", b"\x1f\x8b broken", "cannot be read"),
        ("x.pq", b"PAR1xxxx", "cannot be read"),
        ("latin.csv", b"task,passed\ncaf\xe9,1\n", "line 2: is not UTF-8"),
        ("twice.csv", b"task,task,passed\na,b,1\n", "two columns are named 'task'"),
        ("contrary.csv", b"task,attempt,passed\na,1,1\na,1,0\n", "rows 2 and 3"),
        ("evil.csv", b"\x1b[2J,b\n1,2\n", "no column 'task' among: \\x1b[2J, b"),
        ("verdicts.csv", b"name,flagged\na,1\na,0\n", "no column 'id'"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_a_file_that_is_no_table_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["inspect", str(tmp_path / name)]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert (told.out, "\x1b" in told.err) == ("", False)


def test_columns_are_those_of_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(ROOT / "data/examples/jobs/example-a"), "--columns", "task=x"]) == 1
    assert "holds runs, not tables" in capsys.readouterr().err


def test_several_verifications_are_one_attempt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "verified.csv"
    path.write_text("task,attempt,verification,passed\na,1,x,1\na,1,y,0\nb,1,x,1\n")
    told = facts(inspected(capsys, path))
    assert told["attempts"] == "2, in 3 rows"
    assert told["scatter"].startswith("cannot be seen")
    assert told["verifications"] == (
        "3 rows name one, of 2 attempts, each of which counts once; those of 1 attempt disagree"
    )


def test_verifications_of_unnamed_attempts_have_a_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("question,trial_no,verification,correct\na,1,x,1\na,1,y,0\na,2,x,1\n")
    columns = ["--columns", "task=question", "passed=correct"]
    assert main(["inspect", str(path), *columns]) == 1
    said = capsys.readouterr().err
    assert "1 column: column unknown (trial_no); 3 rows: verification of an attempt without a name" in said
    assert "`columns: {attempt: run}`. Try it here first: `--columns attempt=trial_no`" in said
    cured = inspected(capsys, path, *columns, "--columns", "attempt=trial_no")
    assert facts(cured)["attempts"] == "2, in 3 rows"


SHARED = [(group, task, seed) for group, task in ("ap", "aq", "bp") for seed in "12"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row for row in SHARED if row[0] == "a"], "4 (a `seed` of a task), of one group: "),
        (SHARED, "4 (a `seed` of a task), 2 of them common to groups: no two groups have two of them in "),
        (
            [*SHARED, ("b", "q", "1"), ("b", "q", "2"), ("c", "q", "2")],
            "4 (a `seed` of a task), 4 of them common to groups: 1 of 3 pairs of groups are paired by them",
        ),
    ],
    ids=["one group", "one task", "enough"],
)
def test_shared_environments_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[tuple[str, str, str]], said: str
) -> None:
    path = tmp_path / "seeds.csv"
    path.write_text("group,task,seed,passed\n" + "".join(f"{','.join(row)},1\n" for row in rows))
    assert facts(inspected(capsys, path))["environments"].startswith(said)


def test_contexts_are_told_and_nothing_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "contexts.csv"
    path.write_text("task,context,passed\na,x,1\na,y,0\na,y,0\nb,x,1\n")
    told = facts(inspected(capsys, path))
    assert told["contexts"].startswith("2; within a task of a group 1 to 2: ")
    assert not {"environments", "verifications"} & set(told)
