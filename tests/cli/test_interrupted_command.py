"""What a command says when it is interrupted."""

import argparse

import pytest

from coherence.cli import main, schema


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (KeyboardInterrupt(), "coherence schema: interrupted; what is done is kept\n"),
        (KeyboardInterrupt("3 are stored."), "coherence schema: interrupted; 3 are stored.\n"),
    ],
    ids=["plain", "with what became of it"],
)
def test_an_interrupt_says_what_became_of_the_work(
    stop: KeyboardInterrupt, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: argparse.Namespace) -> int:
        raise stop

    monkeypatch.setattr(schema, "run", run)
    assert main(["schema"]) == 130
    assert capsys.readouterr().err == said
