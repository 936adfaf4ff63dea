"""Cards of metrics, checkpoints, data sets and Spaces: reading and linting a README with YAML front matter."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError
from geceval.core.files import read_text

SECTIONS = (
    "Metric Description",
    "How to Use",
    "Inputs",
    "Output Values",
    "Values from Popular Papers",
    "Examples",
    "Limitations and Bias",
    "Citation",
    "Further References",
)
_TEXTS = ("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "app_file", "short_description", "license")
SPACE = {**dict.fromkeys(_TEXTS, str), "pinned": bool}
METRIC = {**SPACE, "tags": list, "description": str}
MODEL = {"license": str, "library_name": str, "pipeline_tag": str, "tags": list}
DATA = {"license": str, "pretty_name": str, "language": list, "tags": list, "configs": list}
TAGS = ("evaluate", "metric", "grammatical-error-correction")
COLORS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")  # what the Hub accepts
SHORT_DESCRIPTION = 60  # characters that the Hub accepts


@dataclass(frozen=True, slots=True)
class Card:
    """A README with YAML front matter."""

    metadata: dict[str, Any]
    sections: list[str]
    text: str


def read_card(path: str | Path) -> Card:
    """Read a card."""
    import yaml

    text = read_text(path)
    match = re.match(r"---\n(.*?)\n---\n(.*)", text, flags=re.DOTALL)
    if not match:
        raise InputError(f"{path}: no YAML front matter between two lines of ---")
    try:
        metadata = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # dates that are none, and nesting
        raise InputError(f"{path}: the front matter is not YAML: {error}") from error
    if not isinstance(metadata, dict):
        raise InputError(f"{path}: the front matter must be keys and values")
    prose = re.sub(r"^```.*?^```", "", match[2], flags=re.DOTALL | re.MULTILINE)
    return Card(metadata, re.findall(r"^## (.+?)\s*$", prose, flags=re.MULTILINE), match[2])


def lint_metric_card(path: str | Path) -> list[str]:
    """The mistakes in the card of a metric, one message each; empty if there are none."""
    card = read_card(path)
    problems = _types(card, METRIC)
    if problems:
        return problems
    problems += [f"front matter: the tag {tag} is missing" for tag in TAGS if tag not in card.metadata["tags"]]
    problems += _space_values(card)
    if card.sections != list(SECTIONS):
        problems.append(f"sections must be {', '.join(SECTIONS)}; they are {', '.join(card.sections)}")
    return problems


def lint_space_card(path: str | Path) -> list[str]:
    """The mistakes in the card of a Space; see `lint_metric_card`."""
    card = read_card(path)
    return _types(card, SPACE) or _space_values(card)


def lint_model_card(path: str | Path) -> list[str]:
    """The mistakes in the card of a checkpoint; see `lint_metric_card`."""
    card = read_card(path)
    problems = _types(card, MODEL)
    if not re.search(r"^# \S", card.text, flags=re.MULTILINE):
        problems.append("the text must begin with a title: # ...")
    return problems


def lint_data_card(path: str | Path) -> list[str]:
    """The mistakes in the card of a data set, including its tables; see `lint_metric_card`."""
    # The tables that the front matter names must be the parquet files of the folder, no more and no fewer, since
    # `datasets.load_dataset` reads nothing else.
    card = read_card(path)
    problems = _types(card, DATA)
    if problems:
        return problems
    folder = Path(path).parent
    there = {file.relative_to(folder).as_posix() for file in folder.rglob("*.parquet")}
    named = set()
    for number, config in enumerate(card.metadata["configs"]):
        try:
            named |= {entry["path"] for entry in config["data_files"]}
        except (KeyError, TypeError):
            problems.append(f"front matter: configs[{number}] must have config_name and data_files with split and path")
    problems += [f"front matter: configs name {name}, which is no file here" for name in sorted(named - there)]
    problems += [f"front matter: configs do not name {name}" for name in sorted(there - named)]
    return problems


def _types(card: Card, required: dict[str, type]) -> list[str]:
    return [
        f"front matter: {key} must be of type {kind.__name__}, got {card.metadata.get(key)!r}"
        for key, kind in required.items()
        if not isinstance(card.metadata.get(key), kind)
    ]


def _space_values(card: Card) -> list[str]:
    problems = []
    for key in ("colorFrom", "colorTo"):
        if card.metadata[key] not in COLORS:
            problems.append(f"front matter: {key} must be one of {', '.join(COLORS)}, got {card.metadata[key]!r}")
    if len(card.metadata["short_description"]) > SHORT_DESCRIPTION:
        problems.append(f"front matter: short_description is longer than {SHORT_DESCRIPTION} characters")
    return problems
