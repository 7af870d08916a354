"""Everything a user can cause, as one tree.

CoherenceError
├── ConfigError        a setting is missing, unknown or of the wrong kind
├── InputError         a folder or file given by the user cannot be used
│   └── NoFileError        there is none
├── PromptError        a prompt file does not follow its contract
└── JudgeError         no judgement can be made at all
    ├── CredentialError    no key where one is needed
    ├── ServiceError       the API turns every request away
    ├── BudgetError        the next call could cost more than is left
    └── ReplyMissingError  offline, and the reply store has no such reply
"""

from pathlib import Path


class CoherenceError(Exception):
    """A failure the user can act on: its text says what, where and what to do."""


class ConfigError(CoherenceError):
    """A setting is missing, unknown or of the wrong kind."""


class InputError(CoherenceError):
    """A folder or file given by the user cannot be used."""


class NoFileError(InputError):
    """There is no file where one is read."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: there is no such file")
        self.path = path


class PromptError(CoherenceError):
    """A prompt file does not follow its contract."""


class JudgeError(CoherenceError):
    """No judgement can be made at all."""


class CredentialError(JudgeError):
    """A request would need an API key and there is none."""


class ServiceError(JudgeError):
    """The API turns every request away, or is down."""


class BudgetError(JudgeError):
    """The next call could cost more than the budget leaves."""


class ReplyMissingError(JudgeError):
    """The run is offline and the reply store holds no reply for a request."""
