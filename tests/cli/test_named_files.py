"""Every file that a config names beside the runs is looked for first, and named by its key."""

from pathlib import Path
from typing import Any

import pytest

from coherence.cli.config_files import parse
from coherence.cli.named_files import check_named_files
from coherence.errors import ConfigError

RAW: dict[str, Any] = {
    "datasets": {"mine": {"paths": "jobs", "format": "harbor"}},
    "judges": {
        "asked": {"kind": "llm", "prompt": "asked.md", "replace": {"Definition": "definition.md"}},
        "told": {"kind": "recorded", "path": "told.jsonl"},
    },
    "paraphrases": {
        "reworded": {
            "kind": "llm",
            "of": "told",
            "prompt": "new.md",
            "verdicts": {"told": "told-2.jsonl"},
        },
        "given": {"kind": "recorded", "of": "asked", "path": "given.jsonl"},
    },
    "prefixes": {"told": {"every": 5, "verdicts": "prefixes.jsonl"}},
    "outcomes": {"again": {"path": "again.csv"}},
}
NAMED = {
    "judges.asked.prompt": "asked.md",
    "judges.asked.replace.Definition": "definition.md",
    "judges.told.path": "told.jsonl",
    "paraphrases.reworded.prompt": "new.md",
    "paraphrases.reworded.verdicts.told": "told-2.jsonl",
    "paraphrases.given.path": "given.jsonl",
    "prefixes.told.verdicts": "prefixes.jsonl",
    "outcomes.again.path": "again.csv",
}


def test_each_missing_file_is_named_by_its_key_and_all_are_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = parse(RAW, "config")
    for path in NAMED.values():
        (tmp_path / path).write_text("")
    check_named_files(config)
    for path in NAMED.values():
        (tmp_path / path).unlink()
    with pytest.raises(ConfigError) as refused:
        check_named_files(config)
    assert str(refused.value).splitlines()[1:] == [
        f"  {key}: there is no file {path}" for key, path in NAMED.items()
    ]
