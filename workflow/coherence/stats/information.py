"""What a flag tells about failure: shares, correlation, and bits."""

from math import log2, sqrt

from coherence.records import Record
from coherence.stats.tables import Counts


class Information(Record, frozen=True):
    """Sensitivity, specificity, their mean, phi, mutual information in bits, and bits a flag raised."""

    sensitivity: float
    specificity: float
    balanced_accuracy: float
    phi: float
    bits: float
    bits_per_flag: float


def information(counts: Counts) -> Information | None:
    """Return what the flag tells, None where a group or an outcome is empty."""
    failed = counts.risky_fail + counts.safe_fail
    passed = counts.n - failed
    if counts.not_applicable or not failed or not passed:
        return None
    hits, alarms = counts.risky_fail, counts.risky_n - counts.risky_fail
    sensitivity, specificity = hits / failed, 1 - alarms / passed
    spread = sqrt(counts.risky_n * counts.safe_n * failed * passed)
    bits = mutual_information(counts)
    return Information(
        sensitivity=sensitivity,
        specificity=specificity,
        balanced_accuracy=(sensitivity + specificity) / 2,
        phi=(hits * (passed - alarms) - alarms * counts.safe_fail) / spread,
        bits=bits,
        bits_per_flag=bits * counts.n / counts.risky_n,
    )


def mutual_information(counts: Counts) -> float:
    """Return the bits that group and outcome share."""
    n, failed = counts.n, counts.risky_fail + counts.safe_fail
    cells = (
        (counts.risky_fail, counts.risky_n, failed),
        (counts.risky_n - counts.risky_fail, counts.risky_n, n - failed),
        (counts.safe_fail, counts.safe_n, failed),
        (counts.safe_n - counts.safe_fail, counts.safe_n, n - failed),
    )
    return sum(cell / n * log2(cell * n / (row * column)) for cell, row, column in cells if cell)
