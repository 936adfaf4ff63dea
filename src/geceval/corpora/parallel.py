"""Build corpora of corrected text, with edits if they have any: CoNLL-2013/14, JFLEG, CWEB, FCE, W&I+LOCNESS."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from geceval.core.files import read_lines, read_parallel
from geceval.corpora.folder import Config, check_count, find, find_if_any
from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, read_m2, references

Row = dict[str, Any]
Rows = list[Row]

_NUMBERS = dict.fromkeys(("annotator", "start", "end"), pa.int32())
_EDIT = pa.struct(_NUMBERS | dict.fromkeys(("type", "correction", "required", "comment"), pa.string()))
_META = pa.struct({"corpus": pa.string(), "doc": pa.string()})
_LISTS = {"references": pa.string(), "annotators": pa.int32(), "edits": _EDIT}
SCHEMA = pa.schema(
    {"id": pa.string(), "source": pa.string(), **{name: pa.list_(kind) for name, kind in _LISTS.items()}, "meta": _META}
)
_FCE = {"train": ("train", 28350, 2116), "validation": ("dev", 2191, 159), "test": ("test", 2695, 194)}


def build_conll13(folder: Path) -> list[Config]:
    """Tables of CoNLL-2013: `revised`, and `original` if that file is there."""
    revised = find(folder, "official-preprocessed.m2", "revised/data/official-preprocessed.m2")
    original = find_if_any(folder, "official-preprocessed.original.m2", "original/data/official-preprocessed.m2")
    return _versions("conll13", 1381, {"revised": revised, "original": original})


def build_conll14(folder: Path) -> list[Config]:
    """Tables of CoNLL-2014: `noalt`, and `alt` if that file is there."""
    noalt = find(folder, "official-2014.combined.m2", "noalt/official-2014.combined.m2")
    alt = find_if_any(folder, "official-2014.combined-withalt.m2", "alt/official-2014.combined-withalt.m2")
    return _versions("conll14", 1312, {"noalt": noalt, "alt": alt})


def _versions(name: str, count: int, files: dict[str, Path | None]) -> list[Config]:
    return [Config(version, SCHEMA, {"test": m2_rows(path, name, count)}) for version, path in files.items() if path]


def build_cweb(folder: Path) -> list[Config]:
    """Tables of CWEB: `cweb_g` and `cweb_s`."""
    tables = []
    for domain, counts in {"G": (3867, 3981), "S": (2862, 2864)}.items():
        name, splits = f"cweb_{domain.lower()}", {}
        for split, fold, count in zip(("validation", "test"), ("dev", "test"), counts, strict=True):
            file = f"CWEB-{domain}.{fold}.m2"
            splits[split] = m2_rows(find(folder, file, f"data/{file}", f"data/m2/{file}"), f"{name}.{fold}", count)
        tables.append(Config(name, SCHEMA, splits))
    return tables


def build_wi_locness(folder: Path) -> list[Config]:
    """The table of W&I+LOCNESS, whose `meta.corpus` gives the level."""
    counts = {"A.train": 10493, "B.train": 13032, "C.train": 10783, "ABCN.dev": 4384}
    rows = {}
    for name, count in counts.items():
        path = find(folder, f"{name}.gold.bea19.m2", f"m2/{name}.gold.bea19.m2")
        rows[name] = m2_rows(path, f"wi_locness.{name}", count, corpus=name.split(".")[0])
    train = [row for name, each in rows.items() if name.endswith("train") for row in each]
    return [Config("default", SCHEMA, {"train": train, "validation": rows["ABCN.dev"]})]


def build_fce(folder: Path) -> list[Config]:
    """The table of FCE, from the M2 files of BEA-2019 or, where there are none, from the JSON files."""
    splits, note = {}, ""
    for split, (fold, sentences, essays) in _FCE.items():
        name = f"fce.{fold}.gold.bea19.m2"
        if m2 := find_if_any(folder, name, f"m2/{name}"):
            splits[split] = m2_rows(m2, f"fce.{fold}", sentences)
        else:
            path = find(folder, f"fce-{fold}.json", f"json/fce.{fold}.json")
            splits[split] = essay_rows(path, f"fce.{fold}", essays)
            note = (
                "From the JSON files: sentences and tokens by the rules of spaCy, types of edits by ERRANT with the "
                "bundled pipeline. The M2 files of BEA-2019 split the same essays in another way."
            )
    return [Config("default", SCHEMA, splits, note)]


def build_jfleg(folder: Path) -> list[Config]:
    """The table of JFLEG, with one more column: the spell-checked sources, null if that file is missing."""
    splits = {}
    for split, fold, count in (("validation", "dev", 754), ("test", "test", 747)):
        path = find(folder, f"{fold}.src", f"{fold}/{fold}.src")
        sources = read_lines(path)
        files = [find(path.parent, f"{fold}.ref{annotator}") for annotator in range(4)]
        references = zip(*(read_parallel(file, path, len(sources)) for file in files), strict=True)
        spellchecked = find_if_any(path.parent, f"{fold}.spellchecked.src")
        spellings = [None] * len(sources) if spellchecked is None else read_parallel(spellchecked, path, len(sources))
        check_count(path, "sentences", len(sources), count)
        rows = [
            _row(f"jfleg.{fold}", number, source, dict(enumerate(texts)), "jfleg")
            for number, (source, texts) in enumerate(zip(sources, references, strict=True))
        ]
        splits[split] = [{**row, "spellchecked": text} for row, text in zip(rows, spellings, strict=True)]
    return [Config("default", SCHEMA.append(pa.field("spellchecked", pa.string())), splits)]


def m2_rows(path: Path, name: str, expected: int, corpus: str | None = None) -> Rows:
    """Rows of an M2 file."""
    # An annotator is listed if the sentence has an `A` line by them, even a noop. If it has no `A` line at all,
    # annotator 0 is listed, who changed nothing. Of edits that overlap, only the first enters the reference; all are
    # listed.
    sentences = read_m2(path)
    check_count(path, "sentences", len(sentences), expected)
    return [_edited_row(name, number, sentence, corpus) for number, sentence in enumerate(sentences)]


def essay_rows(path: Path, name: str, expected: int) -> Rows:
    """Rows of a JSON file of essays, with ERRANT's types; `meta.doc` is the essay's id; see `m2_rows`."""
    from geceval.edits.errant.annotator import get_annotator
    from geceval.edits.essays import read_essays, to_sentences

    essays = read_essays(path)
    check_count(path, "essays", len(essays), expected)
    sentences = [to_sentences([essay]) for essay in essays]
    docs = [essay.name for essay, own in zip(essays, sentences, strict=True) for _ in own]
    typed = get_annotator("bundled").classify_sentences([sentence for own in sentences for sentence in own])
    rows = enumerate(zip(docs, typed, strict=True))
    return [_edited_row(name, number, sentence, doc=doc) for number, (doc, sentence) in rows]


def _edited_row(name: str, number: int, sentence: M2Sentence, corpus: str | None = None, doc: str = "") -> Row:
    row = _row(name, number, sentence.source, references(sentence), corpus or name.split(".")[0], doc)
    for annotator, edits in sentence.edits.items():
        remarks = sentence.remarks.get(annotator) or [("REQUIRED", "-NONE-")] * len(edits)
        row["edits"] += [_edit(edit, annotator, *remark) for edit, remark in zip(edits, remarks, strict=True)]
    return row


def _row(name: str, number: int, source: str, texts: dict[int, str], corpus: str, doc: str = "") -> Row:
    return {
        "id": f"{name}.{number}",
        "source": source,
        "references": list(texts.values()),
        "annotators": list(texts),
        "edits": [],
        "meta": {"corpus": corpus, "doc": doc},
    }


def _edit(edit: Edit, annotator: int, required: str, comment: str) -> Row:
    """An edit as in the file: alternatives joined by `||`, where one that deletes is `-NONE-`."""
    texts = [text or "-NONE-" for text in edit.corrections] if edit.alternatives else [edit.correction]
    return {
        "annotator": annotator,
        "start": edit.start,
        "end": edit.end,
        "type": edit.type,
        "correction": "||".join(texts),
        "required": required,
        "comment": comment,
    }
