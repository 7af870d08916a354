"""`coherence prompt`: print what a judge is asked, its prompt assembled."""

import argparse

from coherence.cli.arguments import add_config_argument, config_of
from coherence.cli.config import LlmJudge
from coherence.errors import ConfigError
from coherence.judges.llm import prompt_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_argument(parser)
    parser.add_argument("--judge", required=True, help="an llm judge of the config")


def run(args: argparse.Namespace) -> int:
    """Print the prompt's text."""
    config = config_of(args)
    section = config.judges.get(args.judge)
    if not isinstance(section, LlmJudge):
        known = ", ".join(name for name, judge in config.judges.items() if isinstance(judge, LlmJudge))
        raise ConfigError(f"--judge {args.judge}: no llm judge of that name; there are {known or 'none'}")
    print(prompt_of(section).text)  # noqa: T201 - the command's answer
    return 0
