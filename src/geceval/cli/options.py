"""Options that several verbs share."""

from __future__ import annotations

import importlib
import logging
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from geceval.cli.tables import check_outputs
from geceval.core.errors import InputError
from geceval.text.tables import is_table

Format = Literal["table", "json", "tsv", "markdown"]
PaperFormat = Literal["table", "json", "tsv", "markdown", "latex"]
PageFormat = Literal["table", "json", "html"]

ENDINGS = {".json": "json", ".tsv": "tsv", ".tex": "latex", ".md": "markdown", ".html": "html", ".m2": "m2"}
_WRITTEN = ("output", "chunks", "heat_map", "html", "plot", "save")  # parameters of verbs that name files to write
PLAIN = ("", ".txt", ".log", ".out")  # endings that promise no format

# The short form `-o` is `--option` in verbs that score, and `--output` in those that only make something: convert,
# train, report.
Metrics = Annotated[list[str] | None, typer.Option("-m", "--metrics", help="One or more of `geceval list`.")]
Sources = Annotated[
    str | None, typer.Option("-s", "--sources", help="What the learners wrote, a sentence a line; or rows.")
]
Predictions = Annotated[
    list[str],
    typer.Option("-p", "--predictions", help="One file per system, or a folder; .jsonl, .csv and others hold rows."),
]
References = Annotated[
    list[str] | None,
    typer.Option("-r", "--references", help="One file per annotator; a blank line is no reference; or rows."),
]
GoldM2 = Annotated[
    str | None, typer.Option("--gold-m2", "--refs-m2", help="M2 file of the gold edits, in place of -r.")
]
PredictionsM2 = Annotated[
    list[str] | None,
    typer.Option("--predictions-m2", help="M2 file of each system's edits, in the order of -p (cleme, errant, ...)."),
]
SideBySide = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SOURCE CORRECTION REFERENCE...]", help="A sentence, its correction, references."),
]
SourceFile = Annotated[
    str | None, typer.Option("-s", "--sources", help="File, one sentence per line; by default that of an M2 file.")
]
PredictionFile = Annotated[str | None, typer.Option("-p", "--predictions", help="File, its corrections.")]
PredictionM2 = Annotated[
    str | None, typer.Option("--predictions-m2", help="M2 file of the system's own edits; -p can be left out.")
]
Changed = Annotated[
    bool, typer.Option("--changed", help="Show only sentences that the correction or a reference changes.")
]
Lines = Annotated[list[int] | None, typer.Option(help="Show only these sentences, counted from 1.")]
ConllM2 = Annotated[
    str | None,
    typer.Option("--gold-m2", help="CoNLL-2014 M2 file: edits for m2, corrected texts for errant and others."),
]
MetricOptions = Annotated[
    list[str] | None, typer.Option("-o", "--option", metavar="[METRIC.]KEY=VALUE", help="Any option of the metrics.")
]
OneMetricOptions = Annotated[
    list[str] | None, typer.Option("-o", "--option", metavar="KEY=VALUE", help="Any option of the metric.")
]
Text = Annotated[
    str | None, typer.Option(help="What the files hold: auto, tokens, prose, answers, or a tokeniser's name.")
]
Cache = Annotated[
    str | None, typer.Option(help="Folder that keeps edits and answers of networks for later; or set GECEVAL_CACHE.")
]
Nlp = Annotated[str, typer.Option(help="spaCy pipeline for ERRANT: bundled, official, a name or a folder.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes that parse sentences.")]
Device = Annotated[str, typer.Option(help="auto, cpu, mps, cuda:0, ... or several: cuda:0,cuda:1.")]
BatchSize = Annotated[int, typer.Option(help="Sentences per batch.")]
FORMAT = typer.Option("--format", help="How to write it; by default as --output ends.")
Form = Annotated[Format | None, FORMAT]
PaperForm = Annotated[PaperFormat | None, FORMAT]
Page = Annotated[PageFormat | None, FORMAT]
Output = Annotated[str | None, typer.Option(help="File to write, in place of standard output.")]
Progress = Annotated[bool, typer.Option("--progress", help="Show progress on standard error.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No warnings.")]


def no_warnings(quiet: bool) -> None:
    """Do what `--quiet` says."""
    if quiet:
        logging.getLogger("geceval").setLevel(logging.ERROR)


def refuse(reason: str, **options: Any) -> None:
    """Refuse options that were given but would be ignored; `reason` says where they count."""
    for name, value in options.items():
        if value is not None and value is not False and value != []:
            raise InputError(f"--{name.replace('_', '-')} {reason}")


def check_page(output: str, *endings: str, advice: str = "") -> None:
    """Check that a page can be written, and that its name does not promise another format."""
    if Path(output).suffix.lower() not in endings:
        raise InputError(f"{output}: this is a page, whose name ends in {' or '.join(endings)}{advice}")
    check_outputs(output)


def check_lines(output: str | None) -> None:
    """Check that texts can be written, one a line, and that the name of the file does not promise another format."""
    if output and (is_table(output) or Path(output).suffix.lower() in ENDINGS):
        raise InputError(f"{output}: texts are written, one a line: name a file such as {Path(output).stem}.txt")
    check_outputs(output)


def check_format(form: str | None, output: str | None, kinds: Any) -> str:
    """The format of `--format`, of the output's name, or the first of `kinds`, for an output that can be written."""
    names = typing.get_args(kinds)
    suffix = Path(output or "").suffix.lower()
    ending = ENDINGS.get(suffix)
    if form is None and ending not in names and suffix not in PLAIN:
        raise InputError(f"{output}: {ending or suffix} is not written here, only {', '.join(names)}; see --format")
    check_outputs(output)
    return form or (ending if ending in names else names[0])


def imported(place: str) -> Any:
    """The verb, or group of verbs, that `file.name` is in this room."""
    file, _, name = place.partition(".")
    return getattr(importlib.import_module(f"geceval.cli.{file}"), name)


def docstring(place: str) -> str:
    """The docstring of the verb, or of the callback of the group, from the code of the file, which is not run."""
    file, _, name = place.partition(".")
    module = f"geceval.cli.{file}"
    constants = SourceFileLoader(module, str(Path(__file__).with_name(f"{file}.py"))).get_code(module).co_consts
    code = {each.co_name: each for each in constants if isinstance(each, types.CodeType)}
    first = code.get("callback", code.get(name)).co_consts[0]
    return first if isinstance(first, str) else ""  # which `python -OO` leaves out


class ManyValuesCommand(TyperCommand):
    """A command whose list options take several values after one flag: `-p a.txt b.txt` is `-p a.txt -p b.txt`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the flag before each of its values, which is what click reads."""
        return super().parse_args(ctx, args if ctx.resilient_parsing else _flags_repeated(self, args))

    def invoke(self, ctx: Any) -> Any:
        """Run the verb, unless what it writes would overwrite what it reads."""
        _check_overwrites_no_input(ctx.params)
        return super().invoke(ctx)


class ManyValuesGroup(TyperGroup):
    """A verb with such options, and with further verbs below it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat flags, unless the arguments are those of a verb below."""
        below = ctx.resilient_parsing or (args and args[0] in self.commands)
        return super().parse_args(ctx, args if below else _flags_repeated(self, args))

    def invoke(self, ctx: Any) -> Any:
        """Run the verb as `ManyValuesCommand` does."""
        _check_overwrites_no_input(ctx.params)
        return super().invoke(ctx)


def _check_overwrites_no_input(parameters: Mapping[str, Any]) -> None:
    """Refuse to write what is read, by whatever name: `-o m2.gold_m2=FILE`, `rows.jsonl:COLUMN`, a link."""
    values = [value for name, value in parameters.items() if name not in _WRITTEN]
    texts = [text for value in values for text in (value if isinstance(value, list | tuple) else [value])]
    texts = [part for text in texts if isinstance(text, str) for part in (text, text.partition("=")[2])]
    read = {_inode(path) for text in texts for path in (text, text.rpartition(":")[0]) if path} - {None}
    folders = {_inode(path) for path in parameters.get("predictions") or () if Path(path).is_dir()}
    outputs = {name: Path(parameters[name]) for name in _WRITTEN if parameters.get(name) not in (None, "-")}
    targets = [path.resolve() for path in outputs.values()]
    for target, (name, path) in zip(targets, outputs.items(), strict=True):
        option = f"--{name.replace('_', '-')} {path}"
        if path.is_file() and (_inode(target) in read or _inode(target.parent) in folders):
            raise InputError(f"{option} is also read, and would be overwritten; name another")
        if targets.count(target) > 1 and not path.is_char_device():  # as /dev/null
            raise InputError(f"{option} is also written by another option; name another")


def _inode(path: str | Path) -> tuple[int, int] | None:
    """What tells whether two names are one file, whatever links or case they have; `None` if there is none."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):  # a text may be no name
        return None
    return status.st_dev, status.st_ino


def _flags_repeated(command: Any, args: list[str]) -> list[str]:
    # If the command also takes texts without a flag, which an option must not swallow, each option takes only the one
    # value that follows it, unless `-s FILE` shows that there are no such texts.
    flags = {flag for parameter in command.params if getattr(parameter, "multiple", False) for flag in parameter.opts}
    takes_texts = any(isinstance(parameter, TyperArgument) for parameter in command.params)
    files = any(argument.startswith("-s") or argument.partition("=")[0] == "--sources" for argument in args)
    return repeat_flags(args, set() if takes_texts and not files else flags)


def repeat_flags(arguments: Sequence[str], flags: Iterable[str]) -> list[str]:
    """Repeat each of the given flags before every further value that follows it."""
    # Values end at the next argument that starts with a dash; a dash alone (standard input) is a value.
    flags = set(flags)
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    out: list[str] = []
    flag, values = "", 0
    for argument in arguments[:end]:
        if argument.startswith("-") and argument != "-":
            _check_has_value(flag, values)
            name, equals, _ = argument.partition("=")
            flag, values = (name, len(equals)) if name in flags else ("", 0)
        elif flag:
            if values:
                out.append(flag)
            values += 1
        out.append(argument)
    _check_has_value(flag, values)
    return out + list(arguments[end:])


def _check_has_value(flag: str, values: int) -> None:
    if flag and not values:
        raise InputError(f"option {flag} needs at least one value")
