"""Points of the audit on single tests, several tests, and what the sample could show."""

from coherence.evaluation.audit_findings import Finding, known, p_text, points
from coherence.evaluation.published import FIRST, SECOND, Published, Share
from coherence.stats.differences import mover
from coherence.stats.multiplicity import benjamini_hochberg, holm
from coherence.stats.paired import exchange, mcnemar
from coherence.stats.power import fisher_power, observed_power, required_n
from coherence.stats.strata import exact_cmh, mantel_haenszel, zelen
from coherence.stats.tables import compare


def one_trajectory(published: Published) -> Finding:
    """I6: precision at k of detector and marker count."""
    lap = published.overlap
    p = exchange(lap.detector_only, lap.lexical_only)
    detector, lexical = (lap.both[0] + only[0] for only in (lap.detector_only, lap.lexical_only))
    right = mcnemar(
        lap.detector_only[0] + lap.lexical_only[1] - lap.lexical_only[0],
        lap.lexical_only[0] + lap.detector_only[1] - lap.detector_only[0],
    )
    return Finding(
        "I6",
        "abstract, 1, 4.4",
        f"At k = {lap.k} the detector is more precise than the marker count (94 % against 88 %).",
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
    one, two = compare(first.counts), compare(second.counts)
    power = fisher_power(second.risky[1], _rate(first.risky), second.safe[1], _rate(first.safe))
    seen = observed_power(second.counts)
    needed = required_n(second.risky[1] / second.counts.n, _rate(second.risky), _rate(second.safe))
    between, both = mover(one, two), [first.counts, second.counts]
    pooled, exact = mantel_haenszel(both), exact_cmh(both)
    n = needed.n if needed else None
    return Finding(
        "I18",
        "abstract, 4.6, 6",
        f"In the second dataset the gap is not significant at N = {second.counts.n}.",
        f"The design had {points(100 * power, 0)} % power for the first dataset's gap and "
        f"{points(100 * (seen or 0), 0)} % for the one seen; {n} trajectories would give 80 %. That the "
        f"datasets differ is not shown either: {points((one.gap or 0) - (two.gap or 0))} points apart "
        f"({points(between.low if between else None)} to {points(between.high if between else None)}), "
        f"Zelen p = {p_text(zelen(both))}. Pooled gap {points(pooled.gap if pooled else None)}, exact p = "
        f"{p_text(exact.two_sided if exact else None)}.",
        "not reported",
        known(
            power_first=power,
            power_seen=seen,
            required=n,
            apart=(one.gap or 0) - (two.gap or 0),
            apart_low=between.low if between else None,
            apart_high=between.high if between else None,
            zelen_p=zelen(both),
            pooled_gap=pooled.gap if pooled else None,
            pooled_p=exact.two_sided if exact else None,
        ),
    )


def _rate(share: Share) -> float:
    return share[0] / share[1]
