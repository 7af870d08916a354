"""Points of the audit on single tests, several tests, and what the sample could show."""

from coherence.evaluation.audit_findings import Finding, known, p_text, points
from coherence.evaluation.published import FIRST, SECOND, Published, Share
from coherence.stats.differences import mover
from coherence.stats.multiplicity import benjamini_hochberg, holm
from coherence.stats.paired import exchange, mcnemar
from coherence.stats.power import fisher_power, observed_power, required_n
from coherence.stats.strata import exact_cmh, mantel_haenszel, zelen
from coherence.stats.tables import Counts, compare


def one_trajectory(published: Published) -> Finding:
    """I6: precision at k of detector and marker count."""
    lap = published.overlap
    p = exchange(lap.detector_only, lap.lexical_only)
    detector, lexical = (lap.both[0] + only[0] for only in (lap.detector_only, lap.lexical_only))
    percents = " against ".join(f"{points(100 * failed / lap.k, 0)} %" for failed in (detector, lexical))
    right = mcnemar(
        lap.detector_only[0] + lap.lexical_only[1] - lap.lexical_only[0],
        lap.lexical_only[0] + lap.detector_only[1] - lap.detector_only[0],
    )
    return Finding(
        "I6",
        "abstract, 1, 4.4",
        f"At k = {lap.k} the detector is more precise than the marker count ({percents}).",
        f"{detector}/{lap.k} against {lexical}/{lap.k}: {detector - lexical} trajectory. Of the "
        f"{lap.detector_only[1] + lap.lexical_only[1]} flags not shared, exact exchange p = {p_text(p)}; "
        f"McNemar on being right ({right.first_only} against {right.second_only}): exact p = "
        f"{p_text(right.exact_p)}, mid-p = {p_text(right.mid_p)}.",
        "not supported",
        known(exchange_p=p, mcnemar_p=right.exact_p, mid_p=right.mid_p, trajectories=detector - lexical),
    )


def several_tests(published: Published) -> Finding:
    """I16: Holm over the twelve rows."""
    rows = published.comparisons
    ps = [compare(row.counts).fisher_p for row in rows]
    adjusted = dict(zip(((row.dataset, row.feature) for row in rows), holm(ps), strict=True))
    found_rate = benjamini_hochberg(ps)
    kept = [row for row in rows if (adjusted[row.dataset, row.feature] or 1) <= 0.05]
    told = ", ".join(f"{row.name} (p = {p_text(adjusted[row.dataset, row.feature])})" for row in kept)
    lexical = compare(published.of(FIRST, "lexical").counts).fisher_p
    return Finding(
        "I16",
        "Tables 1 and 2, 4.1, 4.6",
        "p is given for the detector alone.",
        f"Of {len(rows)} tests these stay at or below 0.05 after Holm: {told}. The lexical baseline's own "
        f"p is {p_text(lexical)}, below the detector's "
        f"{p_text(compare(published.of(FIRST).counts).fisher_p)}.",
        "not reported",
        known(
            detector_holm=adjusted[FIRST, "strained_coherence"],
            lexical_holm=adjusted[FIRST, "lexical"],
            kept=len(kept),
            detector_bh=found_rate[rows.index(published.of(FIRST))],
            lexical_p=lexical,
        ),
    )


def second_dataset(published: Published) -> Finding:
    """I18: power of the second dataset, and whether the two differ."""
    first, second = published.of(FIRST), published.of(SECOND)
    power = fisher_power(second.risky[1], _rate(first.risky), second.safe[1], _rate(first.safe))
    seen = observed_power(second.counts) or 0.0
    needed = required_n(second.risky[1] / second.counts.n, _rate(second.risky), _rate(second.safe))
    told, figures = _difference(first.counts, second.counts)
    return Finding(
        "I18",
        "abstract, 4.6, 6",
        f"In the second dataset the gap is not significant at N = {second.counts.n}.",
        f"The design had {points(100 * power, 0)} % power for the first dataset's gap and "
        f"{points(100 * seen, 0)} % for the one seen; "
        f"{needed.n if needed else 'more than can be searched'} trajectories would give 80 %. {told}",
        "not reported",
        known(power_first=power, power_seen=seen, required=needed.n if needed else None) | figures,
    )


def _difference(first: Counts, second: Counts) -> tuple[str, dict[str, float]]:
    one, two, both = compare(first), compare(second), [first, second]
    apart, between = (one.gap or 0) - (two.gap or 0), mover(one, two)
    low, high = (between.low, between.high) if between else (None, None)
    pooled, exact, zelen_p = mantel_haenszel(both), exact_cmh(both), zelen(both)
    gap, p = pooled.gap if pooled else None, exact.two_sided if exact else None
    told = (
        f"That the datasets differ is not shown either: {points(apart)} points apart ({points(low)} to "
        f"{points(high)}), Zelen p = {p_text(zelen_p)}. Pooled gap {points(gap)}, exact p = {p_text(p)}."
    )
    figures = known(apart=apart, apart_low=low, apart_high=high, zelen_p=zelen_p, pooled_gap=gap, pooled_p=p)
    return told, figures


def _rate(share: Share) -> float:
    return share[0] / share[1]
