"""The verbs put together, and what the user sees when something is wrong."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from geceval.cli.arguments import ManyValuesCommand
from geceval.cli.compare import compare
from geceval.cli.convert import convert
from geceval.cli.data import data
from geceval.cli.detect import detect
from geceval.cli.doctor import doctor
from geceval.cli.impacts import impacts
from geceval.cli.list import list_
from geceval.cli.maege import maege
from geceval.cli.meta import meta
from geceval.cli.publish import publish
from geceval.cli.register import register
from geceval.cli.report import report
from geceval.cli.score import score
from geceval.cli.train import train
from geceval.cli.tune_weights import tune_weights
from geceval.cli.weights import weights
from geceval.core.extras import naming_the_extra
from geceval.version import __version__

CITATION = f"""@software{{geceval,
  title   = {{geceval: metrics of grammatical error correction}},
  author  = {{{{The geceval authors}}}},
  year    = {{2026}},
  version = {{{__version__}}},
  note    = {{Please cite the paper of each metric as well; it is in the card of the metric}}
}}"""

_INTERRUPTED = 130
_LONGEST = 2000  # characters of a message

# typer carries its own copy of click since 0.2x: the base of click's errors is found from where typer exports one.
ClickException = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="geceval",
    help="Score grammatical error correction.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("score", cls=ManyValuesCommand)(score)
app.command("list")(list_)
app.command("detect", cls=ManyValuesCommand)(detect)
app.command("impacts", cls=ManyValuesCommand)(impacts)
app.command("weights", cls=ManyValuesCommand)(weights)
app.command("tune-weights", cls=ManyValuesCommand)(tune_weights)
app.command("meta", cls=ManyValuesCommand)(meta)
app.command("report", cls=ManyValuesCommand)(report)
app.command("compare", cls=ManyValuesCommand)(compare)
app.command("maege", cls=ManyValuesCommand)(maege)
app.command("convert", cls=ManyValuesCommand)(convert)
app.add_typer(train, name="train")
app.command("register")(register)
app.command("doctor", cls=ManyValuesCommand)(doctor)
app.add_typer(data, name="data", help="Build data sets for datasets.load_dataset.")
app.add_typer(publish, name="publish", help="Put metrics, checkpoints, data sets and Spaces on the Hub.")


def _print_and_exit(text: str):
    def show(value: bool) -> None:
        if value:
            print(text)
            raise typer.Exit

    return show


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_and_exit(f"geceval {__version__}"), is_eager=True)
    ] = False,
    citation: Annotated[
        bool, typer.Option("--citation", callback=_print_and_exit(CITATION), is_eager=True, help="Print BibTeX.")
    ] = False,
) -> None:
    """Score grammatical error correction."""


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code; a mistake of the user is one line on standard error."""
    try:
        with _our_streams(), naming_the_extra(" ".join(arguments[:1])):
            code = app(arguments or ["--help"], prog_name="geceval", standalone_mode=False) or 0
        if code == _INTERRUPTED:  # typer returns it without a word
            raise KeyboardInterrupt
        return code
    except ClickException as error:
        return _complain(error.format_message())
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    except (ValueError, TypeError, ImportError) as error:
        return _complain(str(error))
    except (KeyboardInterrupt, typer.Abort):
        print("geceval: interrupted", file=sys.stderr)
        return _INTERRUPTED


def _complain(message: str) -> int:
    """One line of letters: names and contents of files may hold line breaks and orders to the terminal."""
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(message.split()))
    print(f"geceval: error: {line if len(line) <= _LONGEST else f'{line[:_LONGEST]} ...'}", file=sys.stderr)
    return 2


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
    handler.setFormatter(logging.Formatter("geceval: warning: %(message)s"))
    level, logger.propagate = logger.level, False
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = True
