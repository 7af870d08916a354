"""Secrets in a text: where a key, token, password or private key stands.

Three kinds of evidence: the rules of a maintained scanner for the formats of keys (Kingfisher's, offline);
prefixes, blocks and addresses that stay recognisable where a text was cut; and names such as `password` or
`Bearer` before a value that looks random. Digests, commits and test data are none of these.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

SHORTEST_PASSWORD: Final = 8  # characters
SHORTEST_KEY: Final = 16  # characters a key or token has at least; shorter ones are names and counters
PASSWORD_BITS: Final = 2.5  # a character, by Shannon: eight characters of which two are repeated
KEY_BITS: Final = 3.0  # hexadecimal keys have about 3.5, words joined by underscores with a digit less

_SPACES: Final = bytes(code if code in b"\t\n" or 0x20 <= code < 0x7F else 0x20 for code in range(0x100))
_ESCAPES: Final = re.compile(rb"\\[nrt\"']")
_STOPS: Final = re.compile(rb"[.,!?)](?=\s|\Z)")
_CUT: Final = r"(?=\n\[\.\.[. ] )"  # where preprocessing left something out
_PREFIXED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-(?:ant|proj|svcacct|admin|or)-|gh[pousr]_|github_pat_|glpat-|hf_|xox[a-z]-|npm_"
    r"|[rs]k_live_|GOCSPX-|ya29\.|AIza|eyJ[\w-]{10,512}\.eyJ)"
    rf"(?:[\w.-]{{15,}}\w|[\w.-]{{2,}}{_CUT})"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
)
_BEGIN: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s*[A-Za-z-]{1,40}: [^\n]*\n)*"
    r"(?P<value>(?:\s+[A-Za-z0-9+/=]{20,})+(?:\s+[A-Za-z0-9+/=]{1,19}(?=\s*-----END))?)"
)
_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_TAIL: Final = re.compile(r"(?:[A-Za-z0-9+/=]{20,}\s+)+[A-Za-z0-9+/=]*\s*\Z")  # the lines above such an end
_LONGEST_TAIL: Final = 4096  # characters looked at before an end; the whole of the largest usual keys
_NAMED: Final = re.compile(
    r"(?P<password>passw(?:or)?d|passphrase|passwd|pwd)"
    r"|secret|token(?!s|i[sz])|api[_-]?key|(?:access|account|auth|private|encryption|signing)[_-]?key|credential"
    r"|(?P<bare>(?:bearer|basic)\s|--(?:[a-z]+-){0,3}(?:password|passwd|token|secret|key)[ =])"
)
_VALUE: Final = (
    r"(?:[bru]{0,2}[\"']{1,2}(?P<quoted>[^\s\"'`]{8,512})|(?P<plain>[^\s\"'`,;<>(){}\[\]|]{8,512}))"
)
_ASSIGNED: Final = re.compile(
    r"[\w-]{0,24}[\"']{0,2}(?:[ \t]*:[ \t]*[\w.\[\] |]{1,40}(?==))?\s{0,3}(?::=|=>|[:=>])\s{0,3}" + _VALUE
)
_BARE: Final = re.compile(r"\s*" + _VALUE)
_URL: Final = re.compile(r"://[^\s:/@\"'`<>]{0,64}:(?P<value>[^\s/@\"'`<>]{3,256})@[\w.\[-]")
_STOCK: Final = frozenset({"pass", "password", "passwd", "pwd", "pw", "secret", "token", "user", "username"})
_PLACEHOLDER: Final = re.compile(
    r"example|your[_-]|xxx|\*\*\*|\.\.\.|placeholder|changeme|dummy|redacted|[${]|%\("
)
_OWN: Final = frozenset({"private-key", "generic-credential-uri"})
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]+")
# Possessive: a row of separators can be read in one way only, else a long one takes for ever.
_WORDS: Final = re.compile(r"(?:[A-Za-z]*\d{0,3}|\d+)(?:[-_.,:/@+=\\?!*#~]++(?:[A-Za-z]*\d{0,3}|\d+))*")


class Secret(NamedTuple):
    """text[start:end] is a secret of this kind."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text, by place and not overlapping; the same for the same text."""
    data = _scannable(text)
    plain = data.decode("ascii")
    found = chain(_by_rules(data), _by_prefix(plain), _by_block(plain), _by_url(plain), _by_name(plain))
    return list(_apart(sorted(found, key=lambda secret: (secret.start, -secret.end))))


def looks_random(value: str, shortest: int = SHORTEST_KEY, bits: float = KEY_BITS) -> bool:
    """Whether a value could be a secret: neither words nor a placeholder, and of enough entropy."""
    return (
        len(value) >= shortest
        and _WORDS.fullmatch(value) is None
        and _PLACEHOLDER.search(value.lower()) is None
        and entropy(value) >= bits
    )


def entropy(value: str) -> float:
    """Return Shannon's entropy of the characters, in bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


@cache
def _scanner() -> "Scanner":
    """Return the scanner; its rules take seconds to compile and are kept in the user's cache folder."""
    from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415 - large, and only an llm judge needs it

    return Scanner(Rules(), base64=False)


def _scannable(text: str) -> bytes:
    """Return the text with one ASCII byte a character, so that offsets are the text's own.

    Escaped line ends become spaces: they would make one word of "\\n" and the key behind it. An escaped
    quotation mark becomes two, and the end of a sentence is no part of a key.
    """
    plain = _ESCAPES.sub(_unescaped, text.encode("ascii", "replace").translate(_SPACES))
    return _STOPS.sub(b" ", plain)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    return 2 * (escape[0][1:] if escape[0][1:] in b"\"'" else b" ")


def _by_rules(data: bytes) -> Iterator[Secret]:
    """Yield what the scanner's rules find; blocks and addresses are looked at more closely below."""
    for finding in _scanner().scan(data):
        kind = finding.rule_id.removeprefix("betterleaks.")
        if kind not in _OWN and (_is_sure(finding) or _may_be(finding.secret)):
            place = finding.location
            yield Secret(kind, place["start_offset"], place["end_offset"])


def _is_sure(finding: "Finding") -> bool:
    """Whether the rule stands on its own and does not itself take what it found for an example."""
    return finding.visible and finding.confidence != "low"


def _may_be(value: str) -> bool:
    return _HEXADECIMAL.fullmatch(value) is None and looks_random(value, SHORTEST_PASSWORD, PASSWORD_BITS)


def _by_prefix(text: str) -> Iterator[Secret]:
    for found in _PREFIXED.finditer(text):
        if looks_random(found[0], SHORTEST_PASSWORD, PASSWORD_BITS):
            yield Secret("known-prefix", found.start(), found.end())


def _by_block(text: str) -> Iterator[Secret]:
    """Yield the inside of private key blocks, also of those that were cut."""
    for found in _BEGIN.finditer(text):
        yield Secret("private-key", found.start("value"), found.end("value"))
    for found in _END.finditer(text):
        start = max(0, found.start() - _LONGEST_TAIL)
        tail = _TAIL.search(text, start, found.start())
        if tail is not None:
            yield Secret("private-key", tail.start(), found.start())


def _by_url(text: str) -> Iterator[Secret]:
    for found in _URL.finditer(text):
        value = found["value"].lower()
        if value not in _STOCK and _PLACEHOLDER.search(value) is None:
            yield Secret("url-password", *found.span("value"))


def _by_name(text: str) -> Iterator[Secret]:
    for name in _NAMED.finditer(text.lower()):
        value = (_BARE if name["bare"] else _ASSIGNED).match(text, name.end())
        if value is None or value.lastgroup is None:
            continue
        password = name["password"] or "passw" in name[0]
        limits = (SHORTEST_PASSWORD, PASSWORD_BITS) if password else (SHORTEST_KEY, KEY_BITS)
        if looks_random(value[value.lastgroup], *limits):
            yield Secret("named-value", *value.span(value.lastgroup))


def _apart(found: list[Secret]) -> Iterator[Secret]:
    """Merge what overlaps, under the first one's kind."""
    last: Secret | None = None
    for secret in found:
        if last is not None and secret.start < last.end:
            last = last._replace(end=max(last.end, secret.end))
        else:
            if last is not None:
                yield last
            last = secret
    if last is not None:
        yield last
