"""The command line: one small command a stage; the only layer that knows paths and config."""

import argparse
import os
import sys
from importlib import import_module
from typing import Final

from coherence.cli.arguments import say
from coherence.cli.unmade import told
from coherence.errors import CoherenceError

COMMANDS: Final[dict[str, str]] = {
    "inspect": "say what a folder of runs or a table holds, without any config",
    "plan": "list the units of each dataset and shard",
    "ingest": "read raw files into normalised trajectories and an index",
    "preprocess": "turn trajectories into what a judge reads",
    "features": "measure the cheap baselines of each trajectory",
    "judge": "judge each transcript",
    "paraphrase": "rewrite the thoughts of flagged trajectories, and judge them once more",
    "prompt": "print what an llm judge is asked",
    "prefix": "judge growing prefixes of each transcript, so that no flag rests on hindsight",
    "estimate": "say what the requests that are still to be sent would cost",
    "replies": "list, verify or prune the stored replies",
    "batches": "list the batches under way, or cancel one",
    "gather": "join the shards of a stage into one file a dataset",
    "table": "join outcomes, features and judgements: one row a trajectory",
    "evaluate": "everything asked of judged trajectories: failure rates and what stands beside them",
    "outcomes": "bring repeated outcomes together, from files, runs and judges",
    "incoherence": "how repeated outcomes scatter",
    "figures": "draw the figures",
    "repeated_figures": "draw the figures of repeated outcomes",
    "report": "write the report and the trajectory pages",
    "show": "print the main tables and where the report is",
    "sample": "answer items repeatedly by a model or a command: a table of outcomes",
    "labels": "give trajectories to a reader as a sheet with pages, and read the filled sheet",
    "agreement": "compare a judge with reference labels",
    "schema": "print the JSON schema of the config or of exported spans",
}


def parser_for(arguments: list[str]) -> argparse.ArgumentParser:
    """Return the parser; only the command asked for is imported and declared in full."""
    parser = argparse.ArgumentParser(
        prog="coherence", description="Strained coherence and error incoherence in coding-agent trajectories."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text.capitalize() + ".")
        if arguments[:1] == [name]:
            module = import_module(f"coherence.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return 0, 1 for an error of the user's, 130 when interrupted."""
    # Matrices here are long and narrow: more threads only get into the way of the workflow's other jobs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = sys.argv[1:] if arguments is None else arguments
    args = parser_for(given).parse_args(given)
    try:
        code: int = args.run(args)
    except CoherenceError as error:
        say(f"coherence {args.command}: {told(error, args)}")
        return 1
    except BrokenPipeError:
        # The reader has gone (`| head`); what Python would still flush must not fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:
        say(f"coherence {args.command}: interrupted; {str(stop) or 'what is done is kept'}")
        return 130
    return code
