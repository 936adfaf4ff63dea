"""The command with all its verbs, and what the user sees when something goes wrong."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from geceval.cli.options import ManyValuesCommand, docstring, imported
from geceval.core.errors import Interrupted, UserError, naming_the_extra
from geceval.version import __version__

_INTERRUPTED = 130
_LONGEST = 2000  # characters of a message
# PASSIVE: threads that wait leave the processor to others; on a busy machine networks are three times as fast so.
_ENVIRONMENT = {"TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false", "OMP_WAIT_POLICY": "PASSIVE"}

# typer carries its own copy of click since 0.2x: the base of click's errors is found from where typer exports one.
ClickException = typer.BadParameter.__mro__[2]


PANELS = {
    "Score": {
        "score": "score.score",
        "compare": "compare.compare",
        "gate": "gate.gate",
        "leaderboard": "leaderboard.leaderboard",
        "list": "list_metrics.list_",
    },
    "Look at edits": {
        "types": "error_types.error_types",
        "impacts": "impacts.impacts",
        "filter": "filter.filter_",
        "chunks": "chunks.chunks",
        "transport": "transport.transport",
        "detect": "detect.detect",
        "difficulty": "difficulty.difficulty",
    },
    "Choose": {"rerank": "rerank.rerank", "vote": "vote.vote"},
    "Test metrics": {"meta": "meta.meta", "attack": "attack.attack"},
    "Train and publish": {
        "train": "train.train",
        "convert": "convert.convert",
        "data": "data.data",
        "publish": "publish.publish",
    },
    "Set up": {
        "doctor": "doctor.doctor",
        "models": "models.models",
        "register": "register.register",
        "harness": "harness.harness",
    },
}
"""The verbs in the panels of the help, each with its file in this room and the function, or group of verbs, there."""


class _Verbs(TyperGroup):
    """The verbs with nothing but their help, until one is called or completed."""

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:
        self.commands |= typer.main.get_command(application(arguments[0])).commands
        return super().resolve_command(context, arguments)


def application(only: str | None = None) -> typer.Typer:
    """The command with one verb; or with a list of all, for which none is imported."""
    app = typer.Typer(
        name="geceval",
        cls=_Verbs if only is None else TyperGroup,
        help="Score grammatical error correction.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="markdown",  # which shows brackets as they are
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    for panel, verbs in PANELS.items():
        for name in verbs if only is None else verbs.keys() & {only}:
            if only is None:
                app.command(name, help=docstring(verbs[name]), rich_help_panel=panel)(lambda: None)
                continue
            verb = imported(verbs[name])
            if isinstance(verb, typer.Typer):
                app.add_typer(verb, name=name, rich_help_panel=panel)
            else:
                app.command(name, cls=ManyValuesCommand, rich_help_panel=panel)(verb)
    return app


def _show_version(value: bool) -> None:
    if value:
        print(f"geceval {__version__}")
        raise typer.Exit


def _show_citation(value: bool) -> None:
    if value:
        from geceval.cli.named_sets import CITATION

        print(CITATION)
        raise typer.Exit


def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True)] = False,
    citation: Annotated[
        bool, typer.Option("--citation", callback=_show_citation, is_eager=True, help="Print BibTeX.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="GECEVAL_DEBUG", help="Show the traceback of every error.")
    ] = False,
) -> None:
    """Score grammatical error correction."""
    context.obj["debug"] = debug


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    # A mistake of the user is one line on standard error (below the traceback with `--debug`) and 2; any other error is
    # a bug of geceval: a traceback, a request to report it, and 1.
    state = {"debug": False}
    try:
        with _our_streams(), naming_the_extra(" ".join(arguments[:1])):
            verb = next((argument for argument in arguments if not argument.startswith("-")), None)
            known = any(verb in verbs for verbs in PANELS.values())
            app = application(verb if known else None)
            if arguments in [[], *([group.name] for group in app.registered_groups)]:
                arguments = [*arguments, "--help"]
            code = app(arguments, prog_name="geceval", standalone_mode=False, obj=state) or 0
        if code == _INTERRUPTED:  # typer returns it without a word
            raise KeyboardInterrupt
        return code
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort, Interrupted) as stop:
        advice = f": {stop}" if isinstance(stop, Interrupted) else ""
        print(f"geceval: interrupted{advice}", file=sys.stderr)
        return _INTERRUPTED
    except (UserError, OSError, ClickException) as error:
        if state["debug"]:
            traceback.print_exc()
        return _complain(error)
    except Exception:
        traceback.print_exc()
        print("geceval: this is a bug of geceval; please report it with the lines above", file=sys.stderr)
        return 1


def _complain(error: Exception) -> int:
    """Print one line of plain text: names and contents of files may hold line breaks and terminal control codes."""
    message = error.format_message() if isinstance(error, ClickException) else str(error)
    if isinstance(error, OSError) and error.strerror and (error.filename is not None or error.errno == errno.ENOSPC):
        message = f"{error.filename or ('standard output' if error.filename is None else repr(''))}: {error.strerror}"
    if isinstance(error, io.UnsupportedOperation):
        message = "standard output is closed"
    message = _by_line(message)
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(message.split()))
    print(f"geceval: error: {line if len(line) <= _LONGEST else f'{line[:_LONGEST]} ...'}", file=sys.stderr)
    return 2


def _by_line(message: str) -> str:
    """A message with rows of columns, `predictions[6]`, as lines of files: `line 7 of the predictions`."""
    return re.sub(
        r"\b(sources|predictions|references)\[(\d+)\](\[\d+\])?",
        lambda match: f"line {int(match[2]) + 1} of the {match[1]}",
        message,
    )


class _Line(logging.Formatter):
    """A warning as a line of the command."""

    def format(self, record: logging.LogRecord) -> str:
        return f"geceval: warning: {_by_line(record.getMessage())}"


@contextlib.contextmanager
def _our_streams() -> Iterator[None]:
    """UTF-8 whatever the locale; warnings of the library as lines of the command; other libraries quiet."""
    # A stream that the caller closed is none; what is written to standard output then fails.
    sys.stdout = sys.stdout or Path(os.devnull).open()  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # file names may be no UTF-8
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    logger = logging.getLogger("geceval")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line())
    level, logger.propagate = logger.level, False
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = True
