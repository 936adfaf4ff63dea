"""The command with all its verbs, and what the user sees when something goes wrong."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from typer.core import TyperGroup

from geceval.cli.attack import attack
from geceval.cli.chunks import chunks
from geceval.cli.compare import compare
from geceval.cli.convert import convert
from geceval.cli.data import data
from geceval.cli.detect import detect
from geceval.cli.difficulty import difficulty
from geceval.cli.doctor import doctor
from geceval.cli.error_types import error_types
from geceval.cli.filter import filter_
from geceval.cli.gate import gate
from geceval.cli.harness import harness
from geceval.cli.impacts import impacts
from geceval.cli.leaderboard import leaderboard
from geceval.cli.list_metrics import list_
from geceval.cli.meta import meta
from geceval.cli.models import models
from geceval.cli.named_sets import CITATION
from geceval.cli.options import ManyValuesCommand
from geceval.cli.publish import publish
from geceval.cli.register import register
from geceval.cli.rerank import rerank
from geceval.cli.score import score
from geceval.cli.train import train
from geceval.cli.transport import transport
from geceval.cli.vote import vote
from geceval.core.errors import Interrupted, UserError, naming_the_extra
from geceval.version import __version__

_INTERRUPTED = 130
_LONGEST = 2000  # characters of a message

# typer carries its own copy of click since 0.2x: the base of click's errors is found from where typer exports one.
ClickException = typer.BadParameter.__mro__[2]


class _Verbs(TyperGroup):
    """The verbs in the order of the panels of the help."""

    def list_commands(self, context: typer.Context) -> list[str]:
        return [name for verbs in PANELS.values() for name in verbs]


app = typer.Typer(
    name="geceval",
    cls=_Verbs,
    help="Score grammatical error correction.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",  # which shows brackets as they are
    pretty_exceptions_enable=False,
)
PANELS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Score": {"score": score, "compare": compare, "gate": gate, "leaderboard": leaderboard, "list": list_},
    "Look at edits": {
        "types": error_types,
        "impacts": impacts,
        "filter": filter_,
        "chunks": chunks,
        "transport": transport,
        "detect": detect,
        "difficulty": difficulty,
    },
    "Choose": {"rerank": rerank, "vote": vote},
    "Test metrics": {"meta": meta, "attack": attack},
    "Train and publish": {"train": train, "convert": convert, "data": data, "publish": publish},
    "Set up": {"doctor": doctor, "models": models, "register": register, "harness": harness},
}
for _panel, _verbs in PANELS.items():
    for _name, _verb in _verbs.items():
        if isinstance(_verb, typer.Typer):
            app.add_typer(_verb, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, cls=ManyValuesCommand, rich_help_panel=_panel)(_verb)
_GROUPS = [name for verbs in PANELS.values() for name, verb in verbs.items() if isinstance(verb, typer.Typer)]


def _print_and_exit(text: str):
    def show(value: bool) -> None:
        if value:
            print(text)
            raise typer.Exit

    return show


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_and_exit(f"geceval {__version__}"), is_eager=True)
    ] = False,
    citation: Annotated[
        bool, typer.Option("--citation", callback=_print_and_exit(CITATION), is_eager=True, help="Print BibTeX.")
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
            verb = [*arguments, "--help"] if arguments in [[], *([name] for name in _GROUPS)] else arguments
            code = app(verb, prog_name="geceval", standalone_mode=False, obj=state) or 0
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
    if isinstance(error, OSError) and error.filename and error.strerror:
        message = f"{error.filename}: {error.strerror}"
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
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # file names may be no UTF-8
    for name, value in {"TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}.items():
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
