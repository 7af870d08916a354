"""The circuit breaker: when every call fails, the next ones are not made."""

from typing import Final

from coherence.errors import ServiceError
from coherence.llm.sending import Fault

SAME_REFUSALS: Final = 5  # of one text, with no call answered yet: it is the settings and not the items
OUTAGES: Final = 10  # requests in a row given up after all their tries, whatever went well before
FORBIDDEN: Final = 3  # a gateway may turn a single text away with 403, a key without rights turns all away

REMEDIES: Final = {
    401: "The API key is not valid: check the environment variable ANTHROPIC_API_KEY.",
    402: "The account has no credit: add some in the console of the API.",
    403: "The key may not do this: check its workspace and its rights.",
    404: "There is no such model, or the key may not use it: check `model` (and `base_url`).",
}
DEFAULT_REMEDY: Final = "Check the judge's settings."
OUTAGE_REMEDY: Final = "The server seems to be down or overloaded: try again later, or check `base_url`."


class Breaker:
    """Watches how calls end; `error` is set once no further call should be made."""

    def __init__(self) -> None:
        self.error: ServiceError | None = None
        self._answered = False
        self._outages = 0
        self._refusals: dict[str, int] = {}

    def answered(self) -> None:
        """Note a reply."""
        self._answered = True
        self._outages = 0
        self._refusals.clear()

    def given_up(self, fault: Fault) -> None:
        """Note a request that failed for good."""
        if fault.passing:
            self._outages += 1
            if self._outages >= OUTAGES:
                self._open(fault, f"{OUTAGES} requests in a row failed after all their tries", OUTAGE_REMEDY)
        elif not fault.about_the_item:
            self._refused(fault)

    def _refused(self, fault: Fault) -> None:
        remedy = REMEDIES.get(fault.status or 0, DEFAULT_REMEDY)
        if fault.hopeless:
            self._open(fault, "the API turns every request away", remedy)
        if self._answered:
            return
        self._refusals[fault.detail] = self._refusals.get(fault.detail, 0) + 1
        limit = FORBIDDEN if fault.status == 403 else SAME_REFUSALS
        if self._refusals[fault.detail] >= limit:
            self._open(fault, f"the first {limit} requests were all turned away alike", remedy)

    def _open(self, fault: Fault, what: str, remedy: str) -> None:
        self.error = self.error or ServiceError(f"{what}: {fault.detail}. {remedy}")
