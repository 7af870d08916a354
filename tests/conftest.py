"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the commands have it: tests run side by side
# Tests have homes of their own; the scanner's rules take seconds to compile and are kept across them.
os.environ.setdefault("KF_RULE_CACHE_DIR", str(ROOT / ".pytest_cache" / "secret-rules"))

# A busy machine is no failure; speed is measured by tests/bench.
settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real third-party corpora and labels beside the checkout; absent in a plain clone."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("needs the corpora folder ../shared beside the checkout")
    return path
