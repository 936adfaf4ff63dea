"""Scoring metrics on human judgments of systems (SEEDA, GJG15, GMEG) and of edits, for `geceval meta`."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from geceval import registry
from geceval.core.errors import InputError
from geceval.core.inputs import Columns
from geceval.core.progress import parts
from geceval.edits.edit import apply, one_edit
from geceval.edits.m2 import M2Sentence, references, write_m2
from geceval.meta.judgments import HumanData, system_set
from geceval.meta.scores import MetricScores, read_scores
from geceval.scorers.base import Scorer
from geceval.scorers.edit_quality import EditQuality, contexts
from geceval.scorers.references.gold import gold_sentences
from geceval.text.columns import read_rows
from geceval.workflows.attribution import Method, attribute

if TYPE_CHECKING:  # pyarrow
    from geceval.corpora.edit_labels import LabelledEdit

logger = logging.getLogger("geceval")

EditKind = Literal["operation", "type"]
Targets = Mapping[str, Sequence[str]]  # of sources: their references


def choose_systems(human: HumanData, names: Sequence[str] | None = None) -> list[str]:
    """The systems of a named set or those named one by one, in canonical order."""
    if not names:
        return system_set(human, "base" if human.name == "seeda" else "all")
    if len(names) == 1 and names[0] not in human.outputs:
        return system_set(human, names[0])
    unknown = [name for name in names if name not in human.outputs]
    if unknown:
        raise InputError(f"unknown system {unknown[0]!r}; the systems of {human.name} are {', '.join(human.outputs)}")
    if len(set(names)) < 2:
        raise InputError("meta-evaluation compares systems; name at least two")
    return [system for system in human.outputs if system in names]


def score_metrics(
    options: Mapping[str, dict[str, Any]], human: HumanData, systems: Sequence[str], gold_m2: str | None = None
) -> list[MetricScores]:
    """Score the outputs of systems; all statistics are computed from what this returns."""
    # Networks and ERRANT process each distinct text or pair of texts once: their caches serve all systems and metrics.
    texts = reference_texts(gold_m2, human) if gold_m2 is not None else human.references or None
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        for name, metric_options in parts(options.items()):
            defaults = {"gold_m2": gold_m2} if registry.scorer_class(name).reads_edits else {}
            settings = {**defaults, **metric_options}
            if settings.get("gold_m2") is not None:
                settings["gold_m2"] = _write_judged(settings["gold_m2"], human, Path(folder) / name)
            scorer = registry.make_scorer(name, settings)
            if scorer.needs_references() and texts is None:
                raise InputError(f"{name} needs references: pass --gold-m2 with the M2 file of CoNLL-2014")
            outputs = {system: human.outputs[system] for system in systems}
            results = registry.score_systems(scorer, human.sources, outputs, texts)
            tables.append(_table(name, results))
    return tables


def reference_texts(path: str, human: HumanData) -> list[list[str]]:
    """The corrected texts of the annotators of an M2 file, one list per sentence of the data."""
    # An annotator who has no line where another one has is read as in the papers that the data comes with. On GJG15
    # they did not annotate the sentence (Gong et al., 2022, and the M2 scorer); on SEEDA they left it as it is (Goto et
    # al., 2025, and gec-metrics), so that every sentence has the same number of references.
    sentences = _judged(path, human)
    annotators = sorted({annotator for sentence in sentences for annotator in sentence.edits})
    corrected = [(sentence.source, references(sentence)) for sentence in sentences]
    if human.name == "gjg15":
        return [list(texts.values()) for _, texts in corrected]
    return [[texts.get(annotator, source) for annotator in annotators] for source, texts in corrected]


def read_score_files(
    paths: Iterable[str], human: HumanData, systems: Sequence[str], taken: Iterable[str] = ()
) -> list[MetricScores]:
    """Scores of other programs, or of an earlier run, for the chosen systems; see `geceval.meta.scores`."""
    tables: list[MetricScores] = []
    names = set(taken)
    for path in paths:
        for table in read_scores(path, human.outputs, len(human.sources)):
            if table.metric in names:
                raise InputError(f"{path}: there is another metric {table.metric!r}; rename one of them")
            names.add(table.metric)
            tables.append(table.select(systems))
    return tables


def warn_of_degenerate(tables: Iterable[MetricScores], systems: Sequence[str]) -> None:
    """Warn about meaningless correlations: those of constant scores, and those of two systems."""
    for table in tables:
        if np.ptp(table.corpus) == 0 and np.ptp(table.sentences.mean(axis=1)) == 0:
            logger.warning("%s: all systems have the same score, with which nothing correlates", table.metric)
    if len(systems) == 2:
        logger.warning("with two systems every correlation is 1 or -1")


def _table(name: str, results: dict[str, Any]) -> MetricScores:
    first = next(iter(results.values()))
    sentences = np.array([result.scores for result in results.values()], dtype=float)
    corpus = np.array([result.score for result in results.values()], dtype=float)
    bad = np.argwhere(~np.isfinite(np.column_stack([corpus, sentences])))
    if bad.size:
        system, line = list(results)[bad[0][0]], bad[0][1]
        raise InputError(f"{name} gives no finite score for {system}{f', line {line}' if line else ''}")
    return MetricScores(name, tuple(results), sentences, corpus, first.signature)


def _judged(path: str, human: HumanData) -> list[M2Sentence]:
    """The sentences of an M2 file that the data contains; a file with as many sentences as the data is used whole."""
    sentences = gold_sentences(path)
    if len(sentences) == len(human.lines):
        return sentences
    if len(sentences) <= max(human.lines):
        raise InputError(f"{path}: {len(sentences)} sentences, but the data has line {max(human.lines) + 1} of it")
    return [sentences[line] for line in human.lines]


def _write_judged(path: str, human: HumanData, folder: Path) -> str:
    """An M2 file with the sentences of the data only, under the name of the whole one, which appears in signatures."""
    folder.mkdir()
    target = folder / Path(path).name
    write_m2(target, _judged(path, human))
    return str(target)


def gains_by_edits(
    scorer: Scorer, data: Sequence[LabelledEdit], method: Method, targets: Targets
) -> tuple[np.ndarray, str]:
    """A metric's gain by each edit, or the log-odds of the judge of edits that it is right, and its signature."""
    if isinstance(scorer, EditQuality):
        rows = [(row.edit,) if method == "add" else row.together for row in data]
        pairs = [contexts(row.source, edits)[edits.index(row.edit)] for row, edits in zip(data, rows, strict=True)]
        texts, _ = read_rows(Columns(*map(list, zip(*pairs, strict=True))), scorer.text, scorer.form, "spacy-en")
        return scorer.log_odds(list(zip(texts.sources, texts.predictions, strict=True))), scorer.signature()
    scorer.row_by_row = True
    # Alone, an edit is the only player; else it is one of those of the correction in which people saw it.
    games = [(row.source, (row.edit,) if method == "add" else row.together) for row in data]
    sources, players = zip(*dict.fromkeys(games), strict=True)
    texts = [targets[source] for source in sources] if scorer.needs_references() else None
    attributions = attribute(scorer, sources, players, texts, method=method, rescale="none")
    shares = {(each.source, each.edits): dict(zip(each.edits, each.scores, strict=True)) for each in attributions}
    gains = np.array([shares[game][row.edit] for row, game in zip(data, games, strict=True)])
    return gains if scorer.higher_is_better else -gains, attributions[0].signature


def in_references(data: Sequence[LabelledEdit], targets: Targets) -> np.ndarray:
    """1 for each edit that ERRANT extracts from a reference, else 0."""
    from geceval.edits.errant.annotator import get_annotator

    pairs = [(source, text) for source, texts in targets.items() for text in texts]
    # Spans differ where an edit repeats a word of the source; the texts that they make do not.
    extracted = zip(pairs, get_annotator().edits(pairs), strict=True)
    made = {(source, apply(source, [edit])) for (source, _), edits in extracted for edit in edits}
    return np.array([float((row.source, apply(row.source, [row.edit])) in made) for row in data])


def kinds_of_edits(data: Sequence[LabelledEdit], by: EditKind) -> np.ndarray:
    """ERRANT's type of each edit, or its operation: M (missing), U (unnecessary) or R (to be replaced)."""
    from geceval.edits.errant.annotator import get_annotator

    texts = Columns([row.source for row in data], [apply(row.source, [row.edit]) for row in data])
    tokens, _ = read_rows(texts)
    pairs = zip(map(str.split, tokens.sources), map(str.split, tokens.predictions), strict=True)
    # The shortest edit: that of the data may keep words.
    typed = get_annotator().classify([(" ".join(old), [one_edit(old, new)]) for old, new in pairs])
    return np.array([edit.type.partition(":")[0 if by == "operation" else 2] or "UNK" for (edit,) in typed])
