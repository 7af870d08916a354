"""What can be odd about a raw file: the codes with their meanings, and a collector for one file."""

from typing import Final

from coherence.records import Deviation

CODES: Final[dict[str, str]] = {
    # any JSON file
    "byte_order_mark": "the file starts with a byte order mark",
    "invalid_utf8": "bytes that are not UTF-8 were replaced by U+FFFD",
    "json_not_strict": "not strict JSON (NaN, Infinity, raw control characters), read leniently",
    "lone_surrogate": "half a surrogate pair in a text was replaced by U+FFFD",
    "wrong_type": "a field is not of the type its format says and is taken as unknown",
    # ATIF
    "agent_field_elsewhere": "a system or user step has reasoning or tool calls; they are left out",
    "agent_unnamed": "the trajectory does not name its agent",
    "arguments_not_object": "a tool call's arguments are not an object and are kept under one key",
    "arguments_too_deep": "a tool call's arguments are nested too deeply and are left out",
    "call_id_repeated": "two tool calls of a step have one id; results are paired in order",
    "call_unnamed": "a tool call has no function name",
    "call_without_observation": "nothing is recorded of what a tool call returned",
    "content_part_unknown": "a content part is neither text, image nor audio",
    "glued_none": 'a gateway\'s "None" before the reasoning is left out',
    "copied_context": "steps copied from an earlier segment are left out",
    "observation_of_unknown_call": "a result names a tool call that its step does not have",
    "partial_trajectory": "the writer marked the trajectory as partial",
    "schema_version_missing": "the file does not say its ATIF version",
    "schema_version_unknown": "the file says an ATIF version other than v1.0 to v1.8",
    "segment_cycle": "a continuation leads back to a segment that was read already",
    "segment_missing": "a continuation names a file that is not there",
    "segment_unreadable": "a continuation names a file that is no trajectory",
    "segment_unreferenced": "a continuation file is named by no segment and is read by itself, if at all",
    "sidechain": "steps marked as a sub-agent's are kept apart from the main agent's",
    "step_ids_renumbered": "step ids are missing, repeated or unsorted; steps are numbered by position",
    "step_not_object": "a step is not an object and is left out",
    "step_source_unknown": "a step's source is neither system, user nor agent",
    "subagent_cycle": "a sub-agent's trajectory leads back to itself",
    "subagent_missing": "a referenced sub-agent's trajectory is not there",
    "subagent_unreadable": "a referenced sub-agent's file is no trajectory",
    "trajectory_unreadable": "a trajectory file cannot be read or is no trajectory",
    "total_steps_mismatch": "final_metrics.total_steps is not the number of steps",
    # results of single tests
    "test_repeated": "a test is told twice; where its results differ it has none",
    "test_status_unknown": "a test's status is none of its format and is taken as no result",
    "test_unnamed": "a test has no name and is left out",
    "tests_contradict_reward": "all tests passed but the trial failed, or the reverse; the reward decides",
    "tests_unreadable": "a file of test results cannot be read; nothing is known of single tests",
    # Harbor
    "model_mismatch": "trajectory and result.json name different models",
    "result_missing": "the trial has no result.json",
    "result_unreadable": "result.json cannot be read",
    "reward_from_disk": "the reward is taken from the verifier's file, not from result.json",
    "reward_unreadable": "a reward file of the verifier cannot be read",
    "task_from_config": "the task's name is taken from the trial's config.json",
    "task_from_directory": "the task's name is taken from the trial folder's name",
    "trajectory_too_short": "the agent's text is far shorter than the tokens it is said to have written",
    # mini-swe-agent
    "message_role_unknown": "a message's role is not one the format knows",
    "report_unreadable": "a report of the outcome cannot be read",
    # tau-bench
    "task_id_missing": "a result does not say its task and is named by its place in the list",
    "trial_missing": "a result does not say which trial of its task it is",
    # table
    "cell_unparsable": "a cell is not a value of its column's kind and is taken as unknown",
    "id_missing": "a row has no id and is named by its number",
    "id_repeated": "a row repeats an earlier row's id; its number is added",
    "row_length": "a row has more or fewer cells than the header",
    "row_unreadable": "a row cannot be read as CSV; nothing is known of it",
}

MAX_DETAIL: Final = 200  # characters; details may quote the file


class Deviations:
    """Collects what is odd about one file: one record a code, with the first place and how many more."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._first: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def add(self, code: str, detail: str = "") -> None:
        """Note one occurrence."""
        self._first.setdefault(code, detail[:MAX_DETAIL])
        self._count[code] = self._count.get(code, 0) + 1

    def records(self) -> tuple[Deviation, ...]:
        """Return what was noted, sorted by code."""
        return tuple(Deviation(self.file, code, self._detail(code)) for code in sorted(self._first))

    def _detail(self, code: str) -> str:
        more = self._count[code] - 1
        return self._first[code] + (f" (and {more} more)" if more else "")
