"""The layers: a module imports only from layers below its own; heavy libraries stay where they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from coherence.cli.code import imports

PACKAGE = Path(__file__).parents[1] / "workflow" / "coherence"
LAYERS = (
    {"vocabulary", "errors"},
    {"records"},
    {"files"},
    {"formats", "features", "stats", "incoherence", "llm", "preprocess"},
    {"judges", "paraphrase", "sampling"},
    {"evaluation", "figures", "report"},
    {"cli"},
)
INSIDE = {
    "features": {"formats", "stats", "incoherence", "llm", "preprocess"},
    "formats": {"features", "stats", "incoherence", "llm", "preprocess"},
    "stats": {"features", "formats", "incoherence", "llm", "preprocess"},
    "llm": {"features", "formats", "incoherence", "stats", "preprocess"},
    "figures": {"report"},
}
MODULES = sorted(
    path.relative_to(PACKAGE)
    for path in PACKAGE.rglob("*.py")
    if path.parent != PACKAGE or path.stem != "__init__"
)


def level(name: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if name in layer)


def imported(path: Path) -> set[str]:
    """The coherence modules a file imports, at its top or inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse((PACKAGE / path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("coherence.")}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_import_climbs(path: Path) -> None:
    own = path.parts[0].removesuffix(".py")
    known = {name for name in imported(path) if any(name in layer for layer in LAYERS)}
    climbing = {n for n in known if n != own and (level(n) > level(own) or n in INSIDE.get(own, set()))}
    assert climbing == set()


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_relative_imports(path: Path) -> None:
    tree = ast.parse((PACKAGE / path).read_text("utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]


@pytest.mark.parametrize(
    "module",
    [
        "coherence.cli",
        "coherence.cli.workflow",
        "coherence.cli.ingest",
        "coherence.cli.preprocess",
        "coherence.cli.features",
        "coherence.cli.judge",
        "coherence.cli.gather",
        "coherence.cli.inspect",
        "coherence.cli.sample",
    ],
)
def test_stages_start_without_heavy_imports(module: str) -> None:
    heavy = {"pandas", "scipy", "statsmodels", "matplotlib", "anthropic", "numpy", "jinja2", "jsonschema"}
    code = f"import sys, {module}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_the_digest_of_a_stage_sees_every_import(path: Path) -> None:
    seen = {name.split(".")[0] for name in imports(PACKAGE / path)}
    assert imported(path) <= seen
