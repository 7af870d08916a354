"""What the agent did about a conflict it had named: argue, gather information, revise, or carry on."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from coherence.judges.acknowledgment import Acknowledgment, AgentStep
from coherence.judges.prose import Match, Prose
from coherence.records import Record

Response = Literal[
    "dismissed in words",
    "left unanswered",
    "same action repeated",
    "named before",
    "run finished",
    "explained",
    "argued",
    "rule followed",
    "information gathered",
    "plan revised",
    "explained later",
]

WEIGHTS: Final[dict[Response, float]] = {  # a dismissal weighs as much as its cue
    "left unanswered": 1.0,
    "same action repeated": 2.0,
    "named before": 1.0,
    "run finished": 0.5,
    "explained": -1.5,
    "argued": -0.5,
    "rule followed": -1.5,
    "information gathered": -2.0,
    "plan revised": -1.0,
    "explained later": -1.0,
}
SPOKEN: Final[dict[str, Response]] = {
    "explained": "explained",
    "argued": "argued",
    "complies": "rule followed",
}  # settlement cues that answer by themselves; "inquires", "revised", "switches" need the action too
REACH = 1200  # characters after an acknowledgment in which the same step's words may answer it
AROUND = 160  # characters around a later explanation in which it must name the referent
SOON = 2  # acting steps within which an announced action counts without naming the referent
EARLIER_STEPS = 8  # steps back in which the same conflict may have been named before
EARLIER_ACTIONS = 3  # actions before an acknowledgment which the next one may repeat
SURE = 2.0  # strength from which an earlier acknowledgment counts


class Evidence(Record, frozen=True):
    """One thing the agent did about a conflict, and when; a weight above 0 says that the conflict stands."""

    response: Response
    weight: float
    at: int
    cue: str = ""


class Course:
    """What is looked at: the agent's steps and acknowledgments, how far ahead, which evidence."""

    def __init__(
        self,
        steps: Sequence[AgentStep],
        acknowledgments: Sequence[Acknowledgment],
        window: int,
        dismissals: bool = True,
        repetition: bool = True,
    ) -> None:
        self.steps = steps
        self.window = window
        self.dismissals = dismissals
        self.repetition = repetition
        self._acting = [at for at, step in enumerate(steps) if step.actions]
        self._sure: dict[int, list[Acknowledgment]] = {}
        for named in acknowledgments:
            if named.match.cue.strength >= SURE:
                self._sure.setdefault(named.at, []).append(named)

    def ahead(self, named: Acknowledgment) -> list[int]:
        """Return the next acting steps, the acknowledgment's own included."""
        first = bisect_left(self._acting, named.at)
        return self._acting[first : first + self.window]

    def named_before(self, named: Acknowledgment) -> int | None:
        """Return the earliest of the steps shortly before that surely named the same conflict."""
        for at in range(max(0, named.at - EARLIER_STEPS), named.at):
            if any(named.referent.shares(earlier.referent) for earlier in self._sure.get(at, ())):
                return at
        return None


class Aftermath(Record, frozen=True):
    """What follows an acknowledgment: the words of its own step from it on, and the next acting steps."""

    course: Course
    named: Acknowledgment
    ahead: Sequence[int]
    dismissals: Sequence[Match]
    settled: frozenset[str]


def words_after(named: Acknowledgment, prose: Sequence[Prose]) -> Iterator[tuple[Prose, int, int]]:
    """Yield the texts of a step from an acknowledgment on, and the stretch of each that counts."""
    yield prose[named.prose], named.match.start, named.match.end + REACH
    for later in prose[named.prose + 1 :]:
        yield later, 0, REACH


def find_aftermath(course: Course, named: Acknowledgment, ahead: Sequence[int]) -> Aftermath:
    """Return what follows an acknowledgment."""
    after = list(words_after(named, course.steps[named.at].prose))
    return Aftermath(
        course=course,
        named=named,
        ahead=ahead,
        dismissals=[m for prose, start, end in after for m in prose.dismissals if start <= m.start < end],
        settled=frozenset(
            m.cue.name for prose, start, end in after for m in prose.settlements if start <= m.start < end
        ),
    )


def evidence(response: Response, at: int) -> Evidence:
    """Return evidence of the usual weight."""
    return Evidence(response, WEIGHTS[response], at)


def in_words(aftermath: Aftermath) -> Iterator[Evidence]:
    """Yield what the agent said about the conflict in the same step."""
    acting = aftermath.ahead[0]
    if aftermath.dismissals and aftermath.course.dismissals:
        plainest = max(aftermath.dismissals, key=lambda match: match.cue.strength)
        yield Evidence("dismissed in words", plainest.cue.strength, acting, plainest.cue.name)
    yield from (evidence(response, acting) for cue, response in SPOKEN.items() if cue in aftermath.settled)


def first_action(aftermath: Aftermath, kinds: set[str], announced: bool) -> int | None:
    """Return the first step ahead that acts in one of these ways on the referent, or soon if announced."""
    steps = aftermath.course.steps
    for place, at in enumerate(aftermath.ahead):
        if not steps[at].kinds.isdisjoint(kinds) and (
            (announced and place < SOON) or aftermath.named.referent.is_in(steps[at].touched)
        ):
            return at
    return None


def in_actions(aftermath: Aftermath) -> Iterator[Evidence]:
    """Yield what the agent did about the conflict within the window."""
    gathered = first_action(aftermath, {"inspect", "run"}, "inquires" in aftermath.settled)
    if gathered is not None:
        yield evidence("information gathered", gathered)
    revised = first_action(aftermath, {"edit"}, "revised" in aftermath.settled)
    if revised is not None:
        yield evidence("plan revised", revised)
    elif "switches" in aftermath.settled and not repeats(aftermath):
        yield evidence("plan revised", aftermath.ahead[0])


def repeats(aftermath: Aftermath) -> bool:
    """Whether the next action is the same as one shortly before the acknowledgment."""
    steps, at = aftermath.course.steps, aftermath.named.at
    earlier = [action for step in steps[max(0, at - EARLIER_STEPS) : at] for action in step.actions]
    following = steps[aftermath.ahead[0]].actions[0]
    return any(following.key == action.key for action in earlier[-EARLIER_ACTIONS:])


def in_repetition(aftermath: Aftermath, answered: bool) -> Iterator[Evidence]:
    """Yield whether an earlier action is repeated without an answer, and whether the conflict is old."""
    if not answered and repeats(aftermath):
        yield evidence("same action repeated", aftermath.ahead[0])
    before = aftermath.course.named_before(aftermath.named)
    if before is not None:
        yield evidence("named before", before)


def in_later_words(aftermath: Aftermath) -> Iterator[Evidence]:
    """Yield whether an explanation of the same thing follows within the window."""
    for at in aftermath.ahead:
        for prose in aftermath.course.steps[at].prose if at > aftermath.named.at else ():
            for match in prose.settlements:
                around = prose.folded[max(0, match.start - AROUND) : match.end + AROUND]
                if match.cue.name == "explained" and aftermath.named.referent.is_in(around):
                    yield evidence("explained later", at)
                    return


def in_ending(aftermath: Aftermath) -> Iterator[Evidence]:
    """Yield whether the run ends within the window."""
    steps = aftermath.course.steps
    for at in aftermath.ahead:
        if "finish" in steps[at].kinds or at == len(steps) - 1:
            yield evidence("run finished", at)
            return


def is_answered(aftermath: Aftermath, found: Sequence[Evidence]) -> bool:
    """Whether anything speaks for an answer, or an inquiry was announced and some known action followed."""
    if any(item.weight < 0 for item in found):
        return True
    soon = [aftermath.course.steps[at].kinds for at in aftermath.ahead[:SOON]]
    return "inquires" in aftermath.settled and any(kinds != {"other"} for kinds in soon)


def weigh(course: Course, named: Acknowledgment, ahead: Sequence[int]) -> tuple[Evidence, ...]:
    """Return all that followed an acknowledgment, given the next acting steps, at least one."""
    aftermath = find_aftermath(course, named, ahead)
    found = [*in_words(aftermath), *in_actions(aftermath), *in_later_words(aftermath)]
    answered = is_answered(aftermath, found)
    if not answered:
        found.append(evidence("left unanswered", ahead[0]))
    if course.repetition:
        found += in_repetition(aftermath, answered)
    return (*found, *in_ending(aftermath))
