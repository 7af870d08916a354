"""Gaps within thirds."""

from coherence.evaluation.adjusted import adjusted
from coherence.evaluation.groups import splits
from coherence.evaluation.tertiles import table, thirds
from paper_rows import SETTINGS, rows


def test_the_paper_s_thirds_of_the_detector() -> None:
    made = table(tuple(thirds(adjusted(tuple(splits(rows(), SETTINGS)), SETTINGS))), SETTINGS)
    detector = [one for one in made.records if one["judge"] == "detector"]
    cells = ("third", "risky_fail", "risky_n", "safe_fail", "safe_n")
    assert [tuple(one[cell] for cell in cells) for one in detector] == [
        ("low", 0, 1, 4, 13),
        ("middle", 5, 5, 6, 10),
        ("high", 10, 10, 3, 5),
    ]
    gaps = [one["gap"] for one in detector]
    assert [round(float(gap or 0), 2) for gap in gaps] == [-30.77, 40, 40]
    assert all(one["gap_low"] is not None and one["fisher_p"] is not None for one in detector)


def test_no_thirds_without_values() -> None:
    assert table((), SETTINGS).rows == ()
