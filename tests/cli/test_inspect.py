"""`coherence inspect`: the whole answer without a config, and an entry that works."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from workspace import ROOT, write_trial

from coherence.cli import main
from coherence.cli.config import Config
from coherence.cli.config_files import parse
from coherence.cli.inspected import EXACT_UP_TO, FLAGGED_SHARE, power_of
from coherence.cli.plan import plan
from coherence.stats.power import detectable_gap


def inspected(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["inspect", str(path)]) == 0
    return capsys.readouterr().out


def facts(text: str) -> dict[str, str]:
    lines = text.split("\n\n", maxsplit=1)[0].splitlines()
    return {
        label: said for label, _, said in (re.split(r"( {2,})", line, maxsplit=1) for line in lines) if label
    }


def test_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    told = facts(inspected(ROOT / "data/examples/jobs/example-b", capsys))
    assert told["format"] == "harbor"
    assert told["trials"] == "14 (ok 14)"
    assert told["outcomes"] == "failed 8, passed 6"
    assert told["single tests"] == "10 of 14 trials"
    assert told["without thoughts"] == "1 of 14 (7%)"
    assert told["cost of one judge"].startswith("about $")
    assert told["power"].startswith("with 4 of 14 trajectories with a known outcome flagged")


def test_the_printed_config_reads_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = inspected(ROOT / "data/examples/jobs/example-a", capsys)
    config: Config = parse(yaml.safe_load(text[text.index("name:") :]), "pasted")
    assert config.name == "example-a"
    assert config.datasets["example-a"].format == "harbor"
    assert plan(config, "example-a")
    assert config.judges_of("example-a") == ["rules"]


def test_attempts_are_counted_by_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        write_trial(tmp_path / f"job-{number}", "sum", 1.0)
    write_trial(tmp_path / "job-0", "other", 0.0)
    told = facts(inspected(tmp_path, capsys))
    assert told["attempts"] == "2 tasks (1 with 1, 1 with 3 attempts each)"
    assert told["repeated outcomes"].startswith("scatter can be seen in 1 of 2 tasks of a group")


def test_attempts_without_an_outcome_show_no_scatter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        write_trial(tmp_path / f"job-{number}", "sum", 1.0)
    (tmp_path / "job-0/sum__aBcD123/result.json").write_text('{"task_name": "sum"}')
    told = facts(inspected(tmp_path, capsys))
    assert told["attempts"] == "1 tasks (1 with 2 attempts each)"
    assert told["repeated outcomes"].startswith("scatter cannot be seen")


def test_control_characters_in_names_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_trial(tmp_path, "sum", 1.0)
    (tmp_path / "sum__aBcD123/result.json").write_text(
        '{"task_name": "sum", "config": {"agent": {"model_name": "evil\\u001b[2J"}}}'
    )
    text = inspected(tmp_path, capsys)
    assert "\x1b" not in text
    assert "evil\\x1b[2J" in text


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_nothing_to_inspect_is_an_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["inspect", str(tmp_path / name)]) == 1
    assert str(tmp_path / name) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flagged", "unflagged", "said"),
    [
        ((12, 8), (30, 50), "with 20 of 100 trajectories with a known outcome flagged (20.0%, as "),
        ((0, 0), (30, 50), "none: 0 flagged among 80 trajectories with a verdict and a known outcome"),
        ((30, 50), (0, 0), "none: 80 flagged among 80 trajectories"),
        ((3, 0), (5, 0), "none: 8 failures among 8 trajectories with a known outcome"),
        ((1, 0), (0, 1), "none: 1 failures among 2 trajectories with a known outcome"),
    ],
    ids=["both", "none flagged", "all flagged", "all failed", "few"],
)
def test_power_is_that_of_the_verdicts_there_are(
    flagged: tuple[int, int], unflagged: tuple[int, int], said: str
) -> None:
    joined = Counter(
        {
            **{("flagged", outcome): n for outcome, n in zip(("failed", "passed"), flagged, strict=True)},
            **{("unflagged", outcome): n for outcome, n in zip(("failed", "passed"), unflagged, strict=True)},
            ("flagged", "unknown"): 7,
            ("unjudged", "failed"): 7,
        }
    )
    assert power_of(joined).startswith(said)


def test_of_many_trajectories_power_is_near_the_exact_one() -> None:
    flagged, unflagged = 150, EXACT_UP_TO
    joined = Counter({("flagged", "failed"): 75, ("flagged", "passed"): flagged - 75})
    joined |= Counter({("unflagged", "failed"): unflagged // 2, ("unflagged", "passed"): unflagged // 2})
    said = re.search(r"normal approximation.* gap of (\d+) points", power_of(joined))
    exact = detectable_gap(flagged, unflagged, 0.5)
    assert said is not None and exact is not None
    assert abs(int(said[1]) - 100 * exact) <= 1.5


def test_what_is_said_of_large_samples_is_true() -> None:
    flagged = round(FLAGGED_SHARE * EXACT_UP_TO)
    gap = detectable_gap(flagged, EXACT_UP_TO - flagged, 0.5)
    assert gap is not None
    assert gap <= 0.10


@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        ("harbor/claude-code-kimi", {"format": "harbor", "outcomes": "failed 57, passed 4"}),
        ("mini_swe_agent", {"format": "mini-swe-agent", "outcomes": "passed 174, failed 65"}),
        ("atif", {"format": "atif", "outcomes": "unknown 68"}),
        (
            "tau_bench",
            {
                "format": "tau-bench",
                "other formats": "none found",
                "outcomes": "failed 116, passed 84",
                "attempts": "50 tasks (50 with 4 attempts each)",
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_real_corpora(
    corpus: str, expected: dict[str, str], shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = facts(inspected(shared / "corpora" / corpus, capsys))
    assert {name: told[name] for name in expected} == expected


STEP = '{"step_id": 1, "source": "user", "message": "Do it."}'
ATIF = f'{{"schema_version": "ATIF-v1.5", "agent": {{"name": "a", "version": "1"}}, "steps": [{STEP}]}}'
TAU = '[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": [{"role": "user", "content": "x"}]}]'
MINI = '{"info": {}, "messages": [{"role": "user", "content": "x"}], "trajectory_format": "mini-swe-agent-1"}'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("one.json", ATIF, "atif"),
        ("x.traj.json", MINI, "mini-swe-agent"),
        ("facts.csv", "id,failed\na,1\n", "table"),
        ("runs.json", TAU, "tau-bench"),
    ],
    ids=["atif", "mini-swe-agent", "table", "tau-bench"],
)
def test_a_single_file_is_known_by_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, expected: str
) -> None:
    (tmp_path / name).write_text(content)
    assert facts(inspected(tmp_path / name, capsys))["format"] == expected


def test_other_json_files_hold_no_runs_alone_or_in_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text('{"rows": []}')
    for path in (tmp_path, tmp_path / "a.json"):
        assert main(["inspect", str(path)]) == 1
        assert "none of them ATIF" in capsys.readouterr().err


def test_power_counts_only_what_can_be_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(6):
        write_trial(tmp_path, f"task-{number}", float(number % 2))
    (tmp_path / "task-0__aBcD123/agent/trajectory.json").unlink()
    told = facts(inspected(tmp_path, capsys))
    assert "of 5 trajectories with a known outcome" in told["power"]
