"""Labels of single edits, right or wrong: SEEDA's first annotation step, and files of a user's own."""

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from geceval.core.errors import InputError
from geceval.core.files import read_text, split_lines
from geceval.corpora.folder import Config, check_count
from geceval.corpora.judgments import SEEDA_SYSTEMS, Rows, output_rows
from geceval.edits.edit import Edit, apply, one_edit

_FOLDERS = ("data/EditEval_Step1", "edit_step1")
_FILE = re.compile(r"<Source with context>(.*?)<t>.*?</t>(.*?)<Correction>(.*)", re.DOTALL)
_CORRECTION = re.compile(r"<s(\d)>(.*?)</s\1>", re.DOTALL)
# The second alternative is a bracket that is never closed; its edit ends with the label.
_BRACKET = re.compile(r"\[([^\[\]]*)\]|\[([^\[\]|]*\|(?:True|False))")
_WELL_FORMED = re.compile(r"\[[^→]*→[^→]*\|(True|False)\]")  # of two labels, which one edit has, the last counts
_LABEL = re.compile(r"\|(?:True|False)")

_EDIT = {"start": pa.int32(), "end": pa.int32(), "correction": pa.string()}
_TEXTS = dict.fromkeys(("before", "source", "after", "hypothesis", "original"), pa.string())
_SHOWN = {"annotator": pa.string(), "file": pa.int32(), "number": pa.int8()}
_KNOWN = {"src_id": pa.int32(), "systems": pa.list_(pa.string()), "all_edits": pa.list_(pa.struct(_EDIT))}
_SCHEMA = pa.schema({**_TEXTS, **_EDIT, "label": pa.bool_(), **_SHOWN, **_KNOWN})


@dataclass(frozen=True, slots=True)
class LabelledEdit:
    """An edit that a person found right or wrong, and all edits of the correction in which it was shown."""

    source: str
    edit: Edit
    right: bool
    together: tuple[Edit, ...]
    annotator: str = ""


def read_edit_labels(path: str | Path) -> list[LabelledEdit]:
    """Read a checkout of SEEDA, what `geceval data build seeda-edits` made of it, or JSON Lines of a user's own."""
    path = Path(path)
    if not path.is_dir():
        return _read_json_lines(path)
    built = path / "edits/test.parquet"
    rows = parquet.read_table(built).to_pylist() if built.is_file() else _read_checkout(path)
    return [_to_edit(row) for row in rows if row["label"] is not None]


def _read_json_lines(path: Path) -> list[LabelledEdit]:
    edits = []
    for number, line in enumerate(split_lines(read_text(path)), start=1):
        try:
            row = json.loads(line)
            source, hypothesis = row["source"].split(), row["hypothesis"].split()
            edit, label = one_edit(source, hypothesis), {0: False, 1: True}[row["label"]]
            edits.append(LabelledEdit(" ".join(source), edit, label, (edit,)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            expected = "source and hypothesis, texts, and label, true or false"
            raise InputError(f"{path}, line {number}: expected {expected} ({error!r})") from error
    return edits


def _to_edit(row: dict[str, Any]) -> LabelledEdit:
    edit, *together = (Edit(each["start"], each["end"], each["correction"]) for each in (row, *row["all_edits"]))
    return LabelledEdit(row["source"], edit, row["label"], tuple(together), row["annotator"])


def annotator_agreement(edits: Iterable[LabelledEdit]) -> str:
    """How often annotators agree on edits of the same correction, in words; `""` where no edit has two annotators."""
    units: defaultdict[Any, dict[str, bool]] = defaultdict(dict)
    for each in edits:  # of several labels of one annotator the first counts
        units[each.source, each.edit, each.together].setdefault(each.annotator, each.right)
    shared = [list(unit.values()) for unit in units.values() if len(unit) > 1]
    if not shared:
        return ""
    raw = np.mean([first == second for unit in shared for first, second in itertools.combinations(unit, 2)])
    pairs = np.array([pair for unit in shared for pair in itertools.permutations(unit, 2)])
    # Of a label, the area is the mean of the shares of right and of wrong edits that it calls so.
    area = np.mean([(pairs[pairs[:, 1] == label, 0] == label).mean() for label in np.unique(pairs)])
    # Krippendorff's alpha: of a unit with m labels, k of them right, the k (m - k) pairs that differ count 2 / (m - 1).
    sizes, rights = (np.array([count(unit) for unit in shared], dtype=float) for count in (len, sum))
    total, right = sizes.sum(), rights.sum()
    observed = (2 * rights * (sizes - rights) / (sizes - 1)).sum() / total
    alpha = 1 - observed * total * (total - 1) / max(2 * right * (total - right), 1)
    measured = f"Krippendorff's alpha {alpha:.3f}; AUC of a label beside another's {area:.3f}"
    return f"Annotators agree on {raw:.1%} of {len(shared):,} edits ({measured})"


def build_seeda_edits(folder: Path) -> list[Config]:
    """The table of SEEDA's labels of edits."""
    rows = _read_checkout(folder)
    labelled = [row for row in rows if row["label"] is not None]
    malformed = dict.fromkeys(f"`{row['annotator']}/{row['file']}.txt`" for row in rows if row["label"] is None)
    check_count(folder, "labels", len(labelled), 6464)
    note = (
        f"One row per edit and annotator. {annotator_agreement(map(_to_edit, labelled))}. {len(rows) - len(labelled)} "
        f"edits whose label or bracket is malformed have no row, but are made in `hypothesis`: {', '.join(malformed)}."
    )
    return [Config("edits", _SCHEMA, {"test": labelled}, note)]


def _read_checkout(folder: Path) -> Rows:
    """A row per edit; the label of those that are malformed is `None`."""
    root = next((folder / name for name in _FOLDERS if (folder / name).is_dir()), None)
    if root is None:
        raise InputError(f"{folder}: neither a checkout of SEEDA ({_FOLDERS[0]}) nor what `data build` makes of it")
    outputs = output_rows({name: folder / f"outputs/all/{name}.txt" for name in SEEDA_SYSTEMS})
    sentences, rows = {row["source"]: row for row in outputs}, []
    for path in sorted(root.glob("annotator*/*.txt"), key=lambda path: (path.parent.name, len(path.name), path.name)):
        for row in _read_file(path):
            sentence = sentences.get(row["source"], {"src_id": None, "hypotheses": []})
            systems = [each["system"] for each in sentence["hypotheses"] if each["text"] == row["hypothesis"]]
            rows.append({**row, "src_id": sentence["src_id"], "systems": systems})
    return rows


def _read_file(path: Path) -> Rows:
    parts = _FILE.search(read_text(path))
    if parts is None or not path.stem.isdecimal():
        raise InputError(f"{path}: not a file of SEEDA's first step (<Source with context>, <t>, <Correction>)")
    facts = {"before": parts[1].strip(), "after": parts[2].strip()}
    facts |= {"annotator": path.parent.name, "file": int(path.stem)}
    rows = []
    for number, text in _CORRECTION.findall(parts[3]):
        tokens, edits = _parse(text)
        source, spans = " ".join(tokens), [edit for edit, _ in edits]
        hypothesis = apply(source, [Edit(**span) for span in spans])
        facts |= {"source": source, "hypothesis": hypothesis, "number": int(number)}
        for edit, label in edits:
            original = " ".join(tokens[edit["start"] : edit["end"]])
            rows.append({**facts, **edit, "original": original, "label": label, "all_edits": spans})
    return rows


def _parse(text: str) -> tuple[list[str], list[tuple[dict[str, Any], bool | None]]]:
    """The tokens of the source of a marked correction, and its edits, each with its label."""
    # Parts are split one by one, so that a bracket that touches a word has a span of its own.
    tokens, edits, done = [], [], 0
    for match in _BRACKET.finditer(text):
        tokens += _LABEL.sub("", text[done : match.start()]).split()
        old, _, new = _LABEL.sub("", match[1] or match[2] or "").partition("→")
        label, end = _WELL_FORMED.fullmatch(match[0]), len(tokens) + len(old.split())
        edit = {"start": len(tokens), "end": end, "correction": " ".join(new.split())}
        edits.append((edit, label and label[1] == "True"))
        tokens += old.split()
        done = match.end()
    return tokens + _LABEL.sub("", text[done:]).split(), edits
