"""Figures of the ERRANT pipeline: accuracy on UD English-EWT, agreement with the M2 files of CWEB, and its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any

import errant
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from geceval.edits.edit import Edit
from geceval.edits.m2 import read_m2
from pipeline_trees import Tree, gold_doc

SCORES = {"TAG": "tag_acc", "POS": "pos_acc", "LEMMA": "lemma_acc", "UAS": "dep_uas", "LAS": "dep_las"}
PROBE_FILE, PROBE_ANNOTATOR, PROBE_SENTENCES = "CWEB-G.dev.m2", 0, 400
CARD = Path(__file__).with_name("pipeline_card.md")


def example(vocab: Vocab, gold: Doc) -> Example:
    """A gold document beside its bare words."""
    return Example(Doc(vocab, words=[token.text for token in gold]), gold)


def ewt_scores(nlp: Language, trees: list[Tree]) -> dict[str, float]:
    """Accuracies in percent, on gold words and sentences; UAS and LAS leave punctuation out, as spaCy's scorer does."""
    scores = nlp.evaluate([example(nlp.vocab, gold_doc(nlp.vocab, tree)) for tree in trees], batch_size=64)
    return {name: round(100 * scores[key], 2) for name, key in SCORES.items()}


def corrected(source: str, edits: Iterable[Edit]) -> list[str]:
    """The words of a sentence after its edits."""
    # Several insertions at one offset (4 of CWEB's 6,639 edited sentences) come out in reverse order of spelling: so
    # the figures of the bundled pipeline were measured, which are part of its hash.
    words = source.split()
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end, edit.correction), reverse=True):
        words[edit.start : edit.end] = edit.correction.split()
    return words


def agreement(nlp: Language, path: Path, annotator: int | None = None, limit: int | None = None) -> Counter[str]:
    """Counts of edited sentences and of edits of ERRANT's own M2 file, and of those found again by this pipeline."""
    edited = [
        (sentence.source, edits)
        for sentence in read_m2(path)
        for number, edits in sentence.edits.items()
        if edits and annotator in (None, number)
    ][:limit]
    extractor = errant.load("en", nlp)
    sources = nlp.pipe((Doc(nlp.vocab, words=source.split()) for source, _ in edited), batch_size=64)
    targets = nlp.pipe((Doc(nlp.vocab, words=corrected(*row)) for row in edited), batch_size=64)
    counts: Counter[str] = Counter(sentences=len(edited))
    for (_, edits), source, target in zip(edited, sources, targets, strict=True):
        found = {(e.o_start, e.o_end, e.c_str): e.type for e in extractor.annotate(source, target)}
        edits = {(edit.start, edit.end, edit.correction): edit.type for edit in edits}
        counts["same_spans"] += found.keys() == edits.keys()
        counts["edits"] += len(edits)
        counts["same_types"] += len(found.items() & edits.items())
    return counts


def cweb_agreement(nlp: Language, folder: Path) -> dict[str, dict[str, float]]:
    """Agreement by M2 file, over all files, and on the sample of the first probe; shares in percent."""
    counts = {path.name: agreement(nlp, path) for path in sorted(folder.glob("*.m2"))}
    counts["all"] = sum(counts.values(), Counter())
    counts["probe"] = agreement(nlp, folder / PROBE_FILE, PROBE_ANNOTATOR, PROBE_SENTENCES)
    return {name: shares(count) for name, count in counts.items()}


def shares(count: Counter[str]) -> dict[str, float]:
    """Sizes, and shares of sentences with the same spans and of edits with the same type, in percent."""
    return {
        "sentences": count["sentences"],
        "edits": count["edits"],
        "same_spans": round(100 * count["same_spans"] / count["sentences"], 2),
        "same_types": round(100 * count["same_types"] / count["edits"], 2),
    }


def write_card(metrics: dict[str, Any], path: Path) -> None:
    """Fills the card's template with the figures of one run."""
    ewt = [
        f"| {split} | " + " | ".join(f"{row[name]:.2f}" for name in SCORES) + " |"
        for split, row in metrics["ewt"].items()
    ]
    cweb = [
        f"| {name} | {row['sentences']} | {row['edits']} | {row['same_spans']:.2f} | {row['same_types']:.2f} |"
        for name, row in metrics["cweb"].items()
    ]
    fields = {f"{group}_{key}": value for group in ("run", "settings") for key, value in metrics[group].items()}
    text = Template(CARD.read_text(encoding="utf-8")).substitute(fields, ewt="\n".join(ewt), cweb="\n".join(cweb))
    path.write_text(text, encoding="utf-8")
