"""The store of runs: nothing is made twice, and what was begun and not ended is known."""

from pathlib import Path

import pytest

from coherence.errors import InputError
from coherence.sampling.runs import Run, RunStore

KEY = "ab" + "0" * 62


def made(key: str = KEY, output: str = "{}") -> Run:
    return Run(key, "q", 0, "0", ("x",), "2026-01-01T00:00:00+00:00", 1.0, 0, output, "")


def test_a_run_is_kept_and_a_second_one_beside_the_first(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    assert store.get(KEY) is None
    for number in range(3):
        store.put(made(output=str(number)))

    kept = store.get(KEY)
    assert kept is not None and kept.output == "2"
    assert sorted(path.name for path in (tmp_path / "ab").iterdir()) == [
        f"{KEY}.json", f"{KEY}.replaced-1.json", f"{KEY}.replaced-2.json"
    ]  # fmt: skip


def test_a_claim_is_one_process_s_alone(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    with store.claimed(KEY) as first, store.claimed(KEY) as second:
        assert first is not None and not first.left_over
        assert second is None


def test_what_was_begun_and_not_ended_is_left_over(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    with store.claimed(KEY) as claim:
        assert claim is not None
        claim.begin()
    with store.claimed(KEY) as claim:
        assert claim is not None and claim.left_over
    store.put(made())
    with store.claimed(KEY) as claim:
        assert claim is not None and not claim.left_over


@pytest.mark.parametrize("content", ["", "{", '{"key": "x"}'])
def test_a_broken_file_is_no_leave_to_run_again(tmp_path: Path, content: str) -> None:
    store = RunStore(tmp_path)
    store.path(KEY).parent.mkdir()
    store.path(KEY).write_text(content)

    with pytest.raises(InputError, match=KEY):
        store.get(KEY)


def test_another_run_s_file_is_found_out(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    other = "ab" + "1" * 62
    store.put(made(other))
    store.path(other).rename(store.path(KEY))

    with pytest.raises(InputError, match="holds another run"):
        store.get(KEY)
