"""The project's own files agree with each other, and speak of nothing but the project."""

import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.utils import update_config

from coherence import errors
from coherence.cli.config_files import parse, schema
from coherence.cli.sample_config import read as read_sampling
from coherence.cli.sample_config import schema as sampling_schema
from coherence.evaluation.spans import span_schema
from coherence.sampling.items import read_items

ROOT = Path(__file__).parents[1]
SAMPLINGS = [ROOT / "config/sample.yaml"]  # of `coherence sample`, not of the workflow
CONFIGS = sorted(set((ROOT / "config").glob("*.yaml")) - set(SAMPLINGS))


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_environment_yml_installs_what_pyproject_declares() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert pip == [*declared, "--editable ."]


def test_python_versions_agree() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert f"python{declared}" in environment["dependencies"]


def test_the_lock_pins_every_declared_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = project["dependencies"] + project["optional-dependencies"]["dev"]
    names = {re.split(r"[<>=\[ ]", line)[0].lower() for line in declared}
    locked = {line.split("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines()}
    assert names - locked == set()


def test_every_lock_line_is_a_pinned_version() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9._-]+==[\w.!+]+", line)] == []


@pytest.mark.parametrize(
    ("name", "made"), [("config", schema), ("spans", span_schema)], ids=["config", "spans"]
)
def test_the_shipped_schemas_are_made_from_the_typed_records(
    name: str, made: Callable[[], dict[str, Any]]
) -> None:
    assert yaml.safe_load((ROOT / f"workflow/schemas/{name}.schema.yaml").read_text()) == made()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_shipped_config_is_valid(path: Path) -> None:
    raw = yaml.safe_load(path.read_text())
    whole = {} if "datasets" in raw else yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(whole, raw)  # merges as `--configfile` does
    assert parse(whole, path.name).judges


@pytest.mark.parametrize("path", SAMPLINGS, ids=lambda path: path.name)
def test_every_shipped_sampling_is_valid_and_its_items_can_be_read(path: Path) -> None:
    assert read_items(ROOT / read_sampling(path).items, targets=True)


@pytest.mark.parametrize("made", [schema, sampling_schema], ids=["workflow", "sample"])
def test_every_setting_is_documented(made: Callable[[], dict[str, Any]]) -> None:
    text = (ROOT / "config/README.md").read_text()
    settings = {
        key for section in made()["$defs"].values() for key in section.get("properties", {}) if key != "kind"
    }
    assert sorted(key for key in settings if f"`{key}`" not in text) == []


def test_the_error_tree_drawn_is_the_error_tree() -> None:
    drawn = re.findall(r"(\w+Error)\b", (errors.__doc__ or "").split("\n", 1)[1])
    defined = [name for name in vars(errors) if name.endswith("Error")]
    assert sorted(drawn) == sorted(defined)


def test_the_snakefile_is_one_page() -> None:
    assert len((ROOT / "Snakefile").read_text().splitlines()) <= 40


def test_no_machine_paths_or_registry_hosts() -> None:
    # Split so that this file does not match itself.
    words = [
        "/wo" + "rk/",
        "/ro" + "ot/",
        "/fa" + "rm/",
        "py" + "pi.org",
        "python" + "hosted",
        "registry.np" + "mjs",
    ]
    pattern = re.compile("|".join(map(re.escape, words)))
    hits = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked()
        if path.suffix not in {".png", ".pdf"}
        for match in [pattern.search(path.read_text("utf-8", errors="replace"))]
        if match
    ]
    assert hits == []
