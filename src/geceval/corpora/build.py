"""Convert a data set as its authors publish it to a folder for `datasets.load_dataset`, with a README."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from geceval.core.errors import InputError
from geceval.corpora import judgment_tables, parallel
from geceval.corpora.catalogue import DATA_SETS
from geceval.corpora.folder import Config, check_target, write_folder

_PLAIN: dict[str, Callable[[Path], list[Config]]] = {
    "conll13": parallel.build_conll13,
    "conll14": parallel.build_conll14,
    "jfleg": parallel.build_jfleg,
    "cweb": parallel.build_cweb,
    "fce": parallel.build_fce,
    "wi_locness": parallel.build_wi_locness,
    "tmu_gfm": judgment_tables.build_tmu_gfm,
}
_RANKED = {"seeda": judgment_tables.build_seeda, "gjg15": judgment_tables.build_gjg15}


def build(
    name: str,
    folder: str | Path,
    target: str | Path,
    *,
    gold_m2: str | Path | None = None,
) -> list[Config]:
    """Convert a data set as its authors publish it to a folder for `datasets.load_dataset`."""
    if name not in DATA_SETS:
        raise InputError(f"there is no data set {name!r}; choose one of {', '.join(DATA_SETS)}")
    if gold_m2 is not None and name not in _RANKED:
        raise InputError(f"{name} takes no --gold-m2; {' and '.join(_RANKED)} do")
    folder, target = Path(folder), Path(target)
    check_target(target)
    if name in _RANKED:
        configs = _RANKED[name](folder, None if gold_m2 is None else Path(gold_m2))
    else:
        configs = _PLAIN[name](folder)
    write_folder(target, configs, data_card(name, configs))
    return configs


def data_card(name: str, configs: Sequence[Config]) -> str:
    """The text of the README."""
    entry = DATA_SETS[name]
    first = configs[0]
    split = next(iter(first.splits))
    parts = [
        _front_matter(name, configs),
        f"# {entry.title}\n\n{entry.description}",
        "The texts belong to those who published them. This folder was made from a copy of their files by\n"
        f"`geceval data build {name}`; geceval itself ships none of them.",
        f"- Published at: <{entry.url}>\n- Files that were converted: {entry.files}\n- Terms: {entry.terms}",
        "## Use\n\n```python\nimport datasets\n\n"
        f'rows = datasets.load_dataset("path/to/this/folder", "{first.name}", split="{split}")\n```',
        "## Tables",
        *(_table(config) for config in configs),
        f"## Citation\n\n```bibtex\n{entry.citation}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(name: str, configs: Sequence[Config]) -> str:
    entry = DATA_SETS[name]
    lines = ["---", f"pretty_name: {json.dumps(entry.title)}", "language:", "- en", f"license: {entry.license}"]
    lines += ["task_categories:", "- text-classification" if name in (*_RANKED, "tmu_gfm") else "- text-generation"]
    lines += ["tags:", "- grammatical-error-correction", "configs:"]
    for number, config in enumerate(configs):
        lines += [f"- config_name: {config.name}", *(["  default: true"] if number == 0 else []), "  data_files:"]
        for split in config.splits:
            lines += [f"  - split: {split}", f"    path: {config.name}/{split}.parquet"]
    return "\n".join([*lines, "---"])


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
