"""The words judgements are made of: the one source for prompts, schemas and parsers."""

from typing import Final, Literal

ConflictType = Literal[
    "tool_output_vs_plan",
    "constraint_vs_derivation",
    "inference_vs_inference",
    "environment_vs_premise",
    "unresolved_uncertainty",
    "other",
]

CONFLICT_TYPES: Final[dict[ConflictType, str]] = {
    "tool_output_vs_plan": "what a tool returned contradicts what the agent goes on to do",
    "constraint_vs_derivation": "a requirement of the task contradicts what the agent derived or built",
    "inference_vs_inference": "two conclusions of the agent contradict each other",
    "environment_vs_premise": "the environment is not as the agent's approach assumes",
    "unresolved_uncertainty": "the agent names a doubt that decides the matter and never settles it",
    "other": "an acknowledged conflict that is none of the above",
}

MIN_CONFIDENCE: Final = 1  # lowest level of a span's confidence and of a coherence rating
MAX_CONFIDENCE: Final = 5  # highest level
