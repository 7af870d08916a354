"""The settings of `coherence sample`: what is wrong is named with its key."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from sample_run import sample

from coherence.cli.sample_config import SampleConfig, parse
from coherence.errors import ConfigError

BASE: dict[str, Any] = {"name": "a", "items": "i.jsonl", "samples": 2}
MODEL = {"model": {"model": "m"}}
COMMAND = {"command": {"run": ["x"]}}


def config(**fields: Any) -> SampleConfig:
    return parse({**BASE, **fields}, "here.yaml")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "give `model` to ask a model or `command`"),
        ({**MODEL, **COMMAND}, "one of them"),
        ({**MODEL, "sample": 3}, "'sample' was unexpected"),
        ({"model": {"model": "m", "tempreature": 1}}, "model: Additional properties are not allowed"),
        ({"command": {"run": ["x"], "shell": True}}, "'shell' was unexpected"),
        ({"command": {"run": []}}, "command.run"),
        ({"command": {"run": "rm -rf x"}}, "command.run: 'rm -rf x' is not of type 'array'"),
        ({"command": {"run": ["x"], "sandboxed": "yes"}}, "command.sandboxed"),
        ({**MODEL, "samples": 0}, "samples"),
        ({**MODEL, "name": "../x"}, "name"),
        ({**MODEL, "stopping": {"rule": "luck"}}, "Invalid value 'luck' - at `$.stopping.rule`"),
        ({**MODEL, "stopping": {}}, "stopping"),
        ({**MODEL, "stopping": {"rule": "certify", "bound": 2}}, "stopping.bound"),
        ({**MODEL, "stopping": {"rule": "certify", "d0": 0.1}}, "'d0' was unexpected"),
        ({**MODEL, "stopping": {"rule": "sprt", "d0": 0.2, "d1": 0.1}}, "`d1` must be above `d0`"),
        ({"model": {"model": "m", "mode": "batch"}, "stopping": {"rule": "sprt"}}, "leave `stopping`"),
        ({**COMMAND, "budget_usd": 1}, "budget_usd"),
        ({**MODEL, "group": "a\nb"}, "group: 'a\\nb' must be printable"),
        ({**MODEL, "scaffold": " "}, "scaffold"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config(**fields)
    assert words in str(caught.value)
    assert "here.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "group"),
    [
        (MODEL, "m"),
        ({**MODEL, "scaffold": "s"}, "s + m"),
        ({**MODEL, "group": "g"}, "g"),
        (COMMAND, "a"),
        ({**COMMAND, "scaffold": "s", "backbone": "b"}, "s + b"),
    ],
)
def test_whose_samples_these_are(fields: dict[str, Any], group: str) -> None:
    assert config(**fields).source.group == group


@pytest.mark.parametrize(
    ("group", "folder"),
    [
        ("claude-sonnet-4-6", "claude-sonnet-4-6"),
        ("s + m", "s-+-m-[0-9a-f]{8}"),
        ("../../x", "x-[0-9a-f]{8}"),
        ("..", "-[0-9a-f]{8}"),
        ("y" * 300, "y{60}-[0-9a-f]{8}"),
        ("/:", "-[0-9a-f]{8}"),
    ],
)
def test_a_group_s_folder_is_one_name_below_the_dataset_s(group: str, folder: str) -> None:
    made = config(**MODEL, group=group)

    assert made.group_folder.parent == made.folder == Path("results/samples/a")
    assert re.fullmatch(folder.replace("+", "[+]"), made.group_folder.name)


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("{", (), "cannot be read as YAML"),
        ("- 1", (), "is not of type 'object'"),
        (yaml.safe_dump({**BASE, **MODEL}), (), "i.jsonl: there is no such file"),
        (yaml.safe_dump({**BASE, **MODEL}), ("--again", "exit"), "--again is for commands"),
        (yaml.safe_dump({**BASE, **COMMAND}), ("--again", "bad"), "--again bad: the reasons are"),
    ],
)
def test_an_error_of_the_user_s_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample.yaml").write_text(text)

    assert sample(*arguments) == 1
    assert words in capsys.readouterr().err
