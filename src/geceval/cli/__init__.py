"""The `geceval` command: one file per verb; metrics are reached by name through `geceval.registry`."""

import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 if all went well, 1 on a bug, 2 on a mistake of the user, 130 when interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:  # answered without importing typer
        from geceval.version import __version__

        print(f"geceval {__version__}")
        return
    _return_memory()
    try:
        from geceval.cli.app import run

        sys.exit(run(arguments))
    except KeyboardInterrupt:  # while libraries are imported; else `run` answers it
        print("geceval: interrupted", file=sys.stderr)
        sys.exit(130)


def _return_memory() -> None:
    """Have the C library of Linux return large blocks when they are freed: it keeps hundreds of megabytes otherwise."""
    import contextlib
    import ctypes  # not for --version

    if "MALLOC_MMAP_THRESHOLD_" not in os.environ:
        with contextlib.suppress(OSError, AttributeError, TypeError):  # other systems have no such setting
            ctypes.CDLL(None).mallopt(-3, 1 << 21)  # M_MMAP_THRESHOLD: 2 MiB
