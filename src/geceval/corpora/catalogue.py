"""The data sets: where they are published, under which terms, how to cite them, and what their columns hold."""

import json
from dataclasses import dataclass

from geceval.core.files import ASSETS


@dataclass(frozen=True, slots=True)
class DataSet:
    """A published data set."""

    title: str
    description: str
    task: str
    url: str
    files: str
    terms: str
    license: str
    citation: list[str]


_CONTENT = json.loads((ASSETS / "data_sets.json").read_text(encoding="utf-8"))
DATA_SETS = {name: DataSet(**entry) for name, entry in _CONTENT["data sets"].items()}
COLUMNS: dict[str, str] = _CONTENT["columns"]
