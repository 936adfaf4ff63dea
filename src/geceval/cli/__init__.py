"""The `geceval` command: one file per verb; metrics are reached by name through `geceval.registry`."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 if all went well, 1 on a bug, 2 on a mistake of the user, 130 when interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:  # answered without importing typer
        from geceval.version import __version__

        print(f"geceval {__version__}")
        return
    try:
        from geceval.cli.app import run

        sys.exit(run(arguments))
    except KeyboardInterrupt:  # while libraries are imported; else `run` answers it
        print("geceval: interrupted", file=sys.stderr)
        sys.exit(130)
