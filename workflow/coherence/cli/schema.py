"""`coherence schema`: the config's JSON schema, made from the typed settings."""

import argparse
import sys

import yaml

from coherence.cli.config import schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: none."""


def run(args: argparse.Namespace) -> int:
    """Print the schema as YAML."""
    yaml.safe_dump(schema(), sys.stdout, sort_keys=False, width=110)
    return 0
