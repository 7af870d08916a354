"""The command line: one small command a stage; the only layer that knows paths and config."""


def main() -> int:
    """Run the command line."""
    return 0
