"""The README of a built data set: front matter for `datasets`, origin and terms of the texts, tables, citation."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from geceval.corpora.folder import Config
from geceval.corpora.sources import SOURCES


def data_card(name: str, configs: Sequence[Config]) -> str:
    """The text of the README."""
    source = SOURCES[name]
    first = configs[0]
    split = next(iter(first.splits))
    parts = [
        _front_matter(name, configs),
        f"# {source.title}\n\n{source.description}",
        "The texts belong to those who published them. This folder was made from a copy of their files by\n"
        f"`geceval data build {name}`; geceval itself ships none of them.",
        f"- Published at: <{source.url}>\n- Files that were converted: {source.files}\n- Terms: {source.terms}",
        "## Use\n\n```python\nimport datasets\n\n"
        f'rows = datasets.load_dataset("path/to/this/folder", "{first.name}", split="{split}")\n```',
        "## Tables",
        *(_table(config) for config in configs),
        f"## Citation\n\n```bibtex\n{source.citation}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(name: str, configs: Sequence[Config]) -> str:
    source = SOURCES[name]
    lines = ["---", f"pretty_name: {json.dumps(source.title)}", "language:", "- en", f"license: {source.license}"]
    lines += ["task_categories:", "- text-classification" if name in _JUDGED else "- text-generation"]
    lines += ["tags:", "- grammatical-error-correction", "configs:"]
    for number, config in enumerate(configs):
        lines += [f"- config_name: {config.name}", *(["  default: true"] if number == 0 else []), "  data_files:"]
        for split in config.splits:
            lines += [f"  - split: {split}", f"    path: {config.name}/{split}.parquet"]
    return "\n".join([*lines, "---"])


_JUDGED = ("seeda", "gjg15", "tmu_gfm")


def _table(config: Config) -> str:
    sizes = ", ".join(f"`{split}` {len(rows):,} rows" for split, rows in config.splits.items())
    columns = [f"| `{field.name}` | `{_type(field.type)}` | {_NOTES.get(field.name, '')} |" for field in config.schema]
    header = "| column | type | what it is |\n|---|---|---|"
    notes = [f"{config.note}\n"] if config.note else []
    return "\n".join([f"### {config.name}: {sizes}\n", *notes, header, *columns])


def _type(kind: pa.DataType) -> str:
    return str(kind).replace("item: ", "").replace("element: ", "")


_NOTES = {
    "src_id": "line of the CoNLL-2014 test set, from 0",
    "references": "corrected texts, one an annotator; empty lists where no M2 file was given",
    "hypotheses": "what each system wrote, systems in their canonical order",
    "item": "position in the file; (`src_id`, `annotator`) is not unique",
    "orig_src_id": "the sentence as the file numbers it: from 1 in SEEDA, from 0 in GJG15",
    "orig_id": "the ranking as the file names it",
    "duration_s": "seconds that it took",
    "skipped": "whether the annotator declined to rank",
    "groups": "systems that wrote the same text, and their rank; 1 is best",
    "position": "index in the canonical order of systems",
    "kind": "neural, llm, human, input or team",
    "ew": "Expected Wins, as published",
    "ts": "TrueSkill, as published",
    "ew_sent": "Expected Wins by sentence, as published",
    "ew_edit": "Expected Wins by edit, as published",
    "ts_sent": "TrueSkill by sentence, as published",
    "ts_edit": "TrueSkill by edit, as published",
    "sets": "sets of systems that it is in",
    "annotators": "ids of the annotators, in the order of `references`",
    "edits": "spans of tokens (`source.split()`); alternatives stay joined by `||`; a deletion is empty",
    "meta": "part of the corpus and essay, as far as known",
    "spellchecked": "the source with its spelling corrected; null if that file was not there",
    "systems": "systems that wrote this output",
    "grammaticality": "five ratings from 1 to 4; 0 is other",
    "fluency": "five ratings from 1 to 4; 0 is other",
    "meaning": "five ratings from 1 to 4; 0 is other",
    "ave_g": "mean grammaticality without zeros",
    "ave_f": "mean fluency without zeros",
    "ave_m": "mean meaning without zeros",
}
