"""Records as stages store them: what an earlier version wrote can be read."""

import msgspec

from coherence.records import Entry

OLD = (
    b'{"trial":{"id":"t","dataset":"d","task":"t","attempt":"a","root":"r","key":"k",'
    b'"outcome":{"status":"failed","reward":0.0},"status":"ok"},"digest":"00","steps":3}'
)


def test_an_index_without_tests_is_read_as_knowing_none() -> None:
    entry = msgspec.json.decode(OLD, type=Entry)
    assert (entry.trial.outcome.tests, entry.trial.outcome.contradicted, entry.tests_digest) == (
        None,
        False,
        "",
    )
    assert msgspec.json.decode(msgspec.json.encode(entry), type=Entry) == entry
