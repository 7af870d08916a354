"""`coherence schema`: the JSON schemas of the config and of exported spans, made from the typed records."""

import argparse
import sys

import yaml

from coherence.cli.config_files import schema
from coherence.evaluation.spans import span_schema

SCHEMAS = {"config": schema, "spans": span_schema}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("what", choices=sorted(SCHEMAS), nargs="?", default="config", help="default: config")


def run(args: argparse.Namespace) -> int:
    """Print the schema as YAML."""
    yaml.safe_dump(SCHEMAS[args.what](), sys.stdout, sort_keys=False, width=110)
    return 0
