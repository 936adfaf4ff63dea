"""Right and wrong edits of annotators, rules, systems and raters, and the head that learns from them."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geceval.core.files import read_lines
from geceval.core.options import RunTime
from geceval.corpora import gmeg
from geceval.corpora.edit_labels import read_edit_labels
from geceval.corpora.ratings import read_tmu_gfm
from geceval.edits.edit import Edit, apply, in_order, one_edit, without_overlaps
from geceval.edits.m2 import read_m2
from geceval.learning.cards import table
from geceval.learning.impara_lm import PARTS, folds
from geceval.meta.edit_labels import STATISTICS, agreement_on_edits
from geceval.models.edit_judge import FEATURES, GAIN, HIDDEN, LARGEST, WINDOW, EditHead, EditJudge, features
from geceval.models.origins.hub import QUALITY_HEAD
from geceval.scorers.edit_quality import contexts
from recipes.distillation.groups import Confusions, by_source
from recipes.meaning import calibration_error

LONGEST = 4  # tokens on one side of an edit of a system or between two outputs
WORDS = range(4, 61)
# People who rate outputs find many edits of systems good that no annotator made, see the card.
UNSEEN = 0.4  # target of an edit that no reference has
RATED = 2.0  # weight of a pair of rated texts: people judged it
# What people find right of the edits of good systems, if a reference has them and if none has: Labib et al. (2026) find
# 73.76 % of the corrections that differ from the gold as good or better.
RIGHT_OF_SYSTEMS = {True: 0.97, False: 0.74}
GAPS = {"gmeg": 7.5, "tmu": 0.5}  # least difference of ratings
BINS = 10


class Case(NamedTuple):
    """A text before and after an edit, the probability that it is right, and where the case is from."""

    before: str
    after: str
    target: float
    kind: str
    source: str
    weight: float = 1.0


def annotated_cases(files: Sequence[Path], count: int, seed: int = 1) -> list[Case]:
    """Edits of annotators, their reverse, and what others wrote in their place, from so many sentences of each file."""
    rng = random.Random(seed)
    corpora = [_annotations(path) for path in files]
    errors = Confusions((source, edits) for found in corpora for source, rows in found.items() for edits in rows)
    cases = []
    for found in corpora:
        corrected = sorted(source for source, rows in found.items() if any(rows) and len(source.split()) in WORDS)
        for source in rng.sample(corrected, min(count, len(corrected))):
            cases += _of_sentence(source, found[source], errors, rng)
    return cases


def _annotations(path: Path) -> dict[str, list[list[Edit]]]:
    rows = ((sentence.source, edits) for sentence in read_m2(path) for edits in sentence.edits.values())
    return by_source((source, [edit for edit in edits if edit.type != "UNK"]) for source, edits in rows)


def _of_sentence(source: str, rows: list[list[Edit]], errors: Confusions, rng: random.Random) -> Iterator[Case]:
    edits = rng.choice([row for row in rows if row])
    references = {apply(source, row) for row in rows}

    def case(before: str, after: str, right: bool, kind: str) -> Iterator[Case]:
        if before != after and before and after and (right or after not in references):
            yield Case(before, after, 0.97 if right else 0.03, kind, source, 0.5)

    share = rng.choice((0.0, 0.5, 1.0))  # of the other edits, made before
    for edit in rng.sample(edits, min(2, len(edits))):
        others = [other for other in edits if other != edit and rng.random() < share]
        before, after = apply(source, others), apply(source, [*others, edit])
        yield from case(before, after, True, "annotator")
        if rng.random() < 0.6:
            yield from case(after, before, False, "annotator, undone")
        wrong = apply(source, [*others, replace(edit, correction=errors.exchange(edit.correction, 1, rng))])
        if wrong != after:
            yield from case(before, wrong, False, "other words in its place")
            if rng.random() < 0.5:
                yield from case(wrong, after, True, "other words, mended")
    wrong = errors.exchange(before, 1, rng)
    yield from case(before, wrong, False, "error of others")
    if rng.random() < 0.3 and wrong not in references:
        yield from case(wrong, before, True, "error of others, mended")


def system_cases(
    rows: Iterable[tuple[str, Sequence[str], Sequence[str]]], name: str, count: int, seed: int = 1
) -> list[Case]:
    """`count` edits of systems that a reference has and as many that none has; rows are source, outputs, references."""
    rng = random.Random(seed)
    cases: dict[bool, list[Case]] = {True: [], False: []}
    for source, outputs, references in rows:
        known = [set(_changes(source, reference)) for reference in references]
        for output in outputs:
            edits = _changes(source, output)
            for edit in edits:
                if max(edit.end - edit.start, len(edit.correction.split())) > LONGEST:
                    continue
                hits = sum(edit in row for row in known)
                others = [other for other in edits if other != edit] if rng.random() < 0.5 else []
                texts = apply(source, others), apply(source, [*others, edit])
                target = 0.95 if hits > 1 or hits == len(known) else 0.8 if hits else UNSEEN
                if all(texts) and len(source.split()) in WORDS:
                    kind = f"{name}, in {'a' if hits else 'no'} reference"
                    cases[hits > 0].append(Case(*texts, target, kind, source))
    chosen = [rng.sample(found, min(count, len(found))) for found in cases.values()]
    # A case weighs as much as the edits that it stands for, 1 in the mean.
    per_edit = sum(map(len, chosen)) / max(1, sum(map(len, cases.values())))
    shares = [per_edit * len(found) / max(1, len(some)) for found, some in zip(cases.values(), chosen, strict=True)]
    return [case._replace(weight=share) for some, share in zip(chosen, shares, strict=True) for case in some]


def _changes(source: str, text: str) -> list[Edit]:
    """The blocks of tokens that differ."""
    from difflib import SequenceMatcher

    before, after = source.split(), text.split()
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [Edit(start, end, " ".join(after[a:b])) for kind, start, end, a, b in blocks if kind != "equal"]


def rated_cases(groups: Mapping[str, Mapping[str, float]], name: str, gap: float) -> list[Case]:
    """Both directions between texts of one source that differ in one block, and in their ratings by at least `gap`."""
    cases = []
    for source, ratings in groups.items():
        for before, after in itertools.permutations(ratings, 2):
            difference = ratings[after] - ratings[before]
            if before and after and abs(difference) >= gap and len(_changes(before, after)) == 1:
                edit = one_edit(before.split(), after.split())
                if max(edit.end - edit.start, len(edit.correction.split())) <= LONGEST:
                    target = 0.9 if difference > 0 else 0.1
                    cases.append(Case(before, after, target, f"{name}, rated", source, RATED))
    return cases


def gmeg_cases(folder: Path, count: int) -> list[Case]:
    """Edits of the systems of GMEG beside its four references, and pairs of its outputs, both ways."""
    cases = []
    for domain in gmeg.DOMAINS:
        triples, groups = [], {}
        for row in gmeg.read_domain(folder, domain):
            source, ratings = " ".join(row["source"].split()), defaultdict(list)
            for output in row["hypotheses"]:
                if output["rating"] is not None:
                    ratings[" ".join(output["text"].split())].append(output["rating"])
            groups[source] = {text: float(np.mean(values)) for text, values in ratings.items()}
            texts = {output["system"]: " ".join(output["text"].split()) for output in row["hypotheses"]}
            references = [texts["ref"], *(" ".join(text.split()) for text in row["references"])]
            outputs = {text for system, text in texts.items() if system not in ("ref", "source")}
            triples.append((source, sorted(outputs), references))
        cases += system_cases(triples, f"gmeg-{domain}", count)
        cases += rated_cases(groups, f"gmeg-{domain}", GAPS["gmeg"])
    return cases


def tmu_cases(path: Path) -> list[Case]:
    """Pairs of outputs of TMU-GFM by the sum of their ratings, both ways."""
    groups: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in read_tmu_gfm(path):
        value = (row.grammaticality + row.fluency + row.meaning) / 2
        groups[row.source][" ".join(row.output.split())] = value
    return rated_cases(groups, "tmu-gfm", GAPS["tmu"])


def gold_cases(gold: Path, outputs: Sequence[Path], count: int) -> list[Case]:
    """Edits of system outputs beside the annotations of an M2 file, so many of each kind and system."""
    sentences = list(read_m2(gold))
    cases = []
    for path in outputs:
        rows = []
        for sentence, text in zip(sentences, read_lines(path), strict=True):
            source = " ".join(sentence.source.split())
            usable = ([edit for edit in row if edit.type != "UNK"] for row in sentence.edits.values())
            references = [apply(source, in_order(without_overlaps(row))) for row in usable]
            rows.append((source, [" ".join(text.split())], references))
        cases += system_cases(rows, path.name, count)
    return cases


def fit(features: np.ndarray, cases: Sequence[Case], seed: int = 1) -> EditHead:
    """The head that learnt from these cases."""
    import torch

    torch.manual_seed(seed)
    mean, deviation = features.mean(axis=0), features.std(axis=0) + 1e-2
    rows = torch.from_numpy(((features - mean) / deviation).clip(-LARGEST, LARGEST)).float()
    targets, weights = (torch.tensor([getattr(case, name) for case in cases]) for name in ("target", "weight"))
    network = torch.nn.Sequential(
        torch.nn.Dropout(0.1),
        torch.nn.Linear(FEATURES, HIDDEN),
        torch.nn.GELU(),
        torch.nn.Dropout(0.1),
        torch.nn.Linear(HIDDEN, 1),
    )
    batches, epochs = -(-len(cases) // 512), 20
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=epochs * batches)
    for _ in range(epochs):
        for batch in torch.randperm(len(cases)).split(512):
            answers = network(rows[batch])[:, 0]
            cost = torch.nn.functional.binary_cross_entropy_with_logits(answers, targets[batch], weights[batch])
            optimizer.zero_grad()
            cost.backward()
            optimizer.step()
            schedule.step()
    learnt = {name: value.detach().double().numpy() for name, value in network.state_dict().items()}
    return EditHead(
        {
            "mean": mean,
            "deviation": deviation,
            "hidden.weight": learnt["1.weight"],
            "hidden.bias": learnt["1.bias"],
            "output.weight": learnt["4.weight"][0],
            "output.bias": learnt["4.bias"],
        }
    )


def shift_to_systems(head: EditHead, features: np.ndarray, cases: Sequence[Case], names: Sequence[str]) -> float:
    """The number to add to the log-odds so that edits of these systems are right as often as people find."""
    from scipy.optimize import brentq

    rows = [row for row, case in enumerate(cases) if case.kind.partition(",")[0] in names]
    if not rows:
        return 0.0
    weights = np.array([cases[row].weight for row in rows])
    expected = np.array([RIGHT_OF_SYSTEMS[cases[row].target > 0.5] for row in rows])
    logits = head.logits(features[rows])
    return float(brentq(lambda shift: weights @ (1 / (1 + np.exp(-logits - shift)) - expected), -9, 9))


def cross_validated(features: np.ndarray, cases: Sequence[Case]) -> np.ndarray:
    """The log-odds of each case by a head that saw no case of its source."""
    fold_of = folds([case.source for case in cases])
    answers = np.zeros(len(cases))
    for number in range(PARTS):
        rows = np.flatnonzero(fold_of != number)
        answers[fold_of == number] = fit(features[rows], [cases[row] for row in rows]).logits(
            features[fold_of == number]
        )
    return answers


def save(head: EditHead, folder: Path) -> None:
    """Write the tensors of a head, in float32."""
    import torch
    from safetensors.torch import save_file

    tensors = {name: torch.from_numpy(np.asarray(value, np.float32).copy()) for name, value in head.tensors.items()}
    save_file(tensors, folder / QUALITY_HEAD, {"format": "pt"})
    (folder / QUALITY_HEAD).chmod(0o644)


def measured(features: np.ndarray, cases: Sequence[Case]) -> dict[str, Any]:
    """Areas under the curve of the judge and of `impara_lm`, by kind, and how reliable the probabilities are."""
    answers, gains = cross_validated(features, cases), features[:, GAIN]
    group = np.array([case.kind.partition(",")[0] + (", rated" if "rated" in case.kind else "") for case in cases])
    annotated = np.array([not case.kind.endswith(("rated", "reference")) for case in cases])
    group[annotated] = "annotators"
    right = np.array([case.target > 0.5 for case in cases])
    sets = []
    for name in dict.fromkeys(group.tolist()):
        rows = group == name
        areas = {"judge": auc(answers[rows], right[rows]), "impara_lm": auc(gains[rows], right[rows])}
        sets.append({"set": name, "cases": int(rows.sum()), "right": float(right[rows].mean()), **areas})
    targets, chances = np.array([case.target for case in cases]), 1 / (1 + np.exp(-answers))
    return {
        "cases": Counter(case.kind for case in cases),
        "sets": sets,
        "calibration_error": calibration_error(chances, targets, BINS),
        "reliability": reliability(chances, targets),
    }


def reliability(chances: np.ndarray, targets: np.ndarray) -> list[dict[str, float]]:
    """Mean probability and mean target in bins of equal width."""
    bin_of = np.minimum((chances * BINS).astype(int), BINS - 1)
    return [
        {"cases": int(rows.sum()), "probability": float(chances[rows].mean()), "right": float(targets[rows].mean())}
        for rows in (bin_of == index for index in range(BINS))
        if rows.any()
    ]


def auc(scores: np.ndarray, right: np.ndarray) -> float:
    """Share of pairs of a right and a wrong edit in which the right one has more; ties count half."""
    from scipy.stats import rankdata

    count = int(right.sum())
    above = rankdata(scores)[right].sum() - count * (count + 1) / 2
    return float(above / (count * (len(right) - count)))


def labelled(judge: EditJudge, path: Path, runtime: RunTime) -> dict[str, Any]:
    """Judge and gain of `impara_lm` beside labels that people gave to edits, which nothing was learnt from."""
    edits = read_edit_labels(path)
    pairs = [contexts(each.source, each.together)[each.together.index(each.edit)] for each in edits]
    rows = features(judge.model, pairs, runtime)
    named = {"edit_quality": judge.head.logits(rows), "impara_lm": rows[:, GAIN]}
    right = np.array([each.right for each in edits])
    sources = np.array([each.source for each in edits])
    values = {name: agreement_on_edits(scores, right, sources) for name, scores in named.items()}
    chances = 1 / (1 + np.exp(-named["edit_quality"]))
    return {
        "edits": len(edits),
        "right": float(right.mean()),
        "statistics": [{"score": name, **_with_interval(table)} for name, table in values.items()],
        "calibration_error": calibration_error(chances, right.astype(float), BINS),
        "reliability": reliability(chances, right.astype(float)),
    }


def _with_interval(values: np.ndarray) -> dict[str, float]:
    return {**dict(zip(STATISTICS, values[0].tolist(), strict=True)), "low": values[1, 0], "high": values[2, 0]}


_CARD = """---
library_name: transformers
language: en
license: apache-2.0
tags: [grammatical-error-correction, evaluate, edit_quality]
---

# Judge of single edits: {name}

It gives each edit of a correction the probability that it is right. A language model, the one that is bundled for
`impara_lm`, reads the text before and after the edit up to {window} words after it; of each token its quality head says
a number. A network with one hidden layer of {hidden} units reads {features} features: sums and means of these numbers
over the tokens that change, the tokens after them and all that is read, before, after, and their difference; and of the
words of the edit their number, likeness, kind, place and how often they occur in a corpus. Nothing else was learnt.

```python
import geceval

edit_quality = geceval.load("edit_quality"{model})
edit_quality.compute(sources=["He have two dog ."], predictions=["He has two dogs ."])
```

## How it was made

{cases} cases of a text before and after one edit. Targets: .97 for an annotator's edit; .03 for one that was undone,
for other words in its place, for errors of other people (half weight, all of them); of edits of systems .95 if at least
two references have it (or the only one), .8 if one of several, {unseen} if none, for people who rate outputs find half
of those good; .9 and .1 for the better and the worse of two rated outputs that differ in one place (double weight, for
people judged them). So half of what it learnt from is wrong. Of the edits of good systems less is: people find about
three quarters right of what no reference has (Labib et al. 2026: 73.76 % of corrections). So {shift:.2f} is added to
the log-odds, with which the edits of both systems on W&I dev are right as often in the mean: .97 of those that the
reference has, .74 of the others.

{kinds}

{files}

## Results

Area under the curve, each case judged by a network that saw no case of its sentence ({folds} parts); `impara_lm` is
what its score gains by the edit within the words that are read. What a reference has is no label of validity: much
that none has is right.

{sets}

Reliability there, before anything is added: targets beside probabilities, in bins of equal width (expected calibration
error {error:.3f}).

{reliability}
{labels}
## Limits

- It reads English, and no more than the sentence. A correction whose content is false but well-formed passes.
- An edit is judged with all others of the correction made: of two halves of a change of word order each is what
  completes the other, and of two edits that spoil each other both look wrong.
- What people find right differs between tasks, and weak systems err more than those that its probabilities are made
  for: choose a threshold on edits of the kind that you judge.
"""

_LABELS = """
Beside {edits} labels of people ({right:.3f} right; SEEDA's first step), which were looked at once, last; the
edit made after all others, `impara_lm` within the words that are read; intervals of 95% by bootstrap over sources.

{statistics}

Reliability on these labels (expected calibration error {error:.3f}):

{reliability}
"""


def edit_quality_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    folds, labels = results["folds"], results.get("labels")
    shown = ""
    if labels:
        columns = ("auc", "low", "high", "AP wrong", "balanced", "best accuracy")
        rows = [(row["score"], *(row[name] for name in columns)) for row in labels["statistics"]]
        shown = _LABELS.format(
            edits=labels["edits"],
            right=labels["right"],
            statistics=table(("score", *columns), rows),
            error=labels["calibration_error"],
            reliability=_bars(labels["reliability"]),
        )
    return _CARD.format(
        name=folder.name,
        model="" if folder.name == "edit_quality" else f', model="{folder.name}"',
        hidden=HIDDEN,
        features=FEATURES,
        window=WINDOW,
        shift=results["shift"],
        cases=sum(folds["cases"].values()),
        unseen=UNSEEN,
        kinds=table(("kind", "cases"), folds["cases"].items()),
        files=table(("file", "SHA-256"), [(row["file"], row["sha256"][:12]) for row in results["files"]]),
        folds=PARTS,
        sets=table(("set", "cases", "right", "judge", "impara_lm"), (row.values() for row in folds["sets"])),
        error=folds["calibration_error"],
        reliability=_bars(folds["reliability"]),
        labels=shown,
    )


def _bars(rows: Sequence[Mapping[str, float]]) -> str:
    drawn = [(row["cases"], row["probability"], row["right"], "█" * round(20 * row["right"])) for row in rows]
    return table(("cases", "probability", "right", ""), drawn)
