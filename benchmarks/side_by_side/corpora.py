"""What is scored: SEEDA's 15 systems, the 13 submissions to CoNLL-2014, or the example corpus of geceval."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import geceval
from geceval.core.files import read_lines
from geceval.edits.edit import apply
from geceval.edits.m2 import M2Sentence, read_m2, references, write_m2

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
SEEDA, GJG15 = Path("seeda/outputs/subset"), Path("gjg15/data/original/official_submissions")
GOLD = Path("conll2014/official-2014.combined.m2")
CLEME = Path("cleme")


@dataclass(frozen=True)
class Work:
    """A corpus with the outputs of systems.

    Attributes:
        title: What tables call it.
        sources: `[sentences]`.
        systems: `[systems][sentences]`.
        references: `[sentences][references]`, equally many everywhere, as some peers want them; empty lists if none.
        gold: The blocks of the M2 file, or `None`.
        edits: Those of the systems' own M2 files, `[systems][sentences]`; empty without such files.
    """

    title: str
    sources: list[str]
    systems: list[list[str]]
    references: list[list[str]]
    gold: list[M2Sentence] | None = None
    edits: Sequence[list[M2Sentence]] = ()

    def take(self, size: int) -> Work:
        """The first so many sentences of those that no column leaves empty, which some peers cannot score."""
        rows = zip(self.sources, *self.systems, *zip(*self.references, strict=True), strict=True)
        kept = [number for number, row in enumerate(rows) if all(text.strip() for text in row)][:size]
        return Work(
            f"{self.title}, {len(kept):,} sentences",
            [self.sources[number] for number in kept],
            [[system[number] for number in kept] for system in self.systems],
            [self.references[number] for number in kept],
            [self.gold[number] for number in kept] if self.gold else None,
            [[system[number] for number in kept] for system in self.edits],
        )

    def write(self, folder: Path) -> str:
        """Put the columns into a file that `process.read_part` reads; its path."""
        path = folder / f"{len(list(folder.glob('*.json')))}.json"
        columns = {name: getattr(self, name) for name in ("sources", "systems", "references")}
        if self.gold:
            write_m2(path.with_suffix(".m2"), self.gold)
        gold = str(path.with_suffix(".m2")) if self.gold else None
        edits = [str(path.with_suffix(f".{number}.m2")) for number in range(len(self.edits))]
        for file, sentences in zip(edits, self.edits, strict=True):
            write_m2(file, sentences)
        path.write_text(json.dumps({**columns, "gold_m2": gold, "predictions_m2": edits}), encoding="utf-8")
        return str(path)


def read_seeda(data: Path) -> Work:
    """SEEDA: systems without references, among them the sources and two people."""
    if not (data / SEEDA).is_dir():
        return read_example()
    paths = sorted((data / SEEDA).glob("*.txt"))
    sources = clean(read_lines(data / SEEDA / "INPUT.txt"))
    systems = [clean(read_lines(path)) for path in paths]
    return Work(f"SEEDA, {len(systems)} systems", sources, systems, [[] for _ in sources])


def read_gjg15(data: Path) -> Work:
    """The systems of CoNLL-2014 with its two annotators; the first is repeated where the second has no line."""
    if not (data / GJG15).is_dir() or not (data / GOLD).is_file():
        return read_example()
    gold = read_m2(data / GOLD)
    rows = [list(references(sentence).values()) for sentence in gold]
    most = max(map(len, rows))
    rows = [clean(row + row[:1] * (most - len(row))) for row in rows]
    systems = [clean(read_lines(path)[: len(gold)]) for path in sorted((data / GJG15).iterdir())]
    return Work(f"GJG15, {len(systems)} systems", clean(sentence.source for sentence in gold), systems, rows, gold)


def read_cleme(data: Path) -> Work:
    """The system AMU of CoNLL-2014 and two references, all with the edits of CLEME's own files."""
    if not (data / CLEME).is_dir():
        return read_example()
    gold, system = (read_m2(data / CLEME / name) for name in ("conll14.errant", "conll14-AMU.errant"))
    outputs = [apply(each.source, each.edits[0]) for each in system]
    rows = [list(references(sentence).values()) for sentence in gold]
    return Work("CoNLL-2014, AMU", [each.source for each in gold], [outputs], rows, gold, [system])


def read_example() -> Work:
    """The example corpus, for machines without the others."""
    sources, *rows = (
        clean(read_lines(EXAMPLE / name)) for name in ("source.txt", "reference_0.txt", "reference_1.txt")
    )
    systems = [clean(read_lines(path)) for path in sorted((EXAMPLE / "systems").glob("*.txt"))]
    return Work(
        f"example corpus, {len(systems)} systems", sources, systems, [list(row) for row in zip(*rows, strict=True)]
    )


def stretch(work: Work, size: int) -> Work:
    """One system of so many sentences, all distinct: the systems end to end, again and again, each with a number.

    The number stands before the last token of source, prediction and references, so that equal sentences of several
    systems are no longer equal and nothing is found in a cache.
    """
    count = len(work.sources)
    places = [(number // count % len(work.systems), number % count) for number in range(size)]

    def numbered(texts: Sequence[str]) -> list[str]:
        parts = (text.rpartition(" ") for text in texts)
        return [f"{head} in {number} {last}".strip() for number, (head, _, last) in enumerate(parts)]

    columns = [numbered([row[sentence] for _, sentence in places]) for row in zip(*work.references, strict=True)]
    return dataclasses.replace(
        work,
        sources=numbered([work.sources[sentence] for _, sentence in places]),
        systems=[numbered([work.systems[system][sentence] for system, sentence in places])],
        references=[list(row) for row in zip(*columns, strict=True)] or [[] for _ in places],
        gold=None,
    )


def clean(texts: Sequence[str]) -> list[str]:
    """Texts with single spaces, so that all libraries cut them into the same tokens."""
    return [" ".join(text.split()) for text in texts]
