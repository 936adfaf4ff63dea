"""An estimator that reads a source and its correction together and says whether they say the same; its training.

Positive pairs are what people wrote: a source with a correction, a part of one, two corrections of one source, a
sentence with errors of other people, and rewordings by rule. Negative ones are those of `recipes.negatives`.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from geceval.core.errors import InputError
from geceval.core.files import read_json, read_lines
from geceval.core.options import Count, Options
from geceval.edits.edit import Edit, apply
from geceval.edits.m2 import read_m2
from geceval.learning.cards import evaluation_tables, front_matter, pooling_row, recipe_rows, run_rows, table
from geceval.learning.impara import likeliest_scale, rescale
from geceval.learning.network import save
from geceval.learning.recipe import Recipe
from geceval.learning.runs import Material, train_network
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.regressors import load_regressor
from geceval.text.tokenisers import detokenise
from recipes.distillation.groups import Confusions, by_source
from recipes.hardening import load_adapter
from recipes.negatives import Corpus, draw
from recipes.some import Regression

RECIPE = Recipe(
    pooling="mean",
    head_deviation=0.2,
    lora_rank=16,
    dropout=0.0,
    learning_rate=1e-3,
    schedule="linear",
    warmup=0.06,
    epochs=1,
    evaluations=4,
    dtype="bfloat16",
)
_TAGS = ["grammatical-error-correction", "evaluate", "meaning"]
FOLDS = {"train": 0.94, "dev": 0.03, "test": 0.03}
LENGTH = range(2, 46)  # words of a sentence to learn from
_PROSE = 0.3  # share of the pairs whose texts are spaced as prose

_CONTRACTIONS = (
    "do not=do n't|does not=does n't|did not=did n't|is not=is n't|are not=are n't|was not=was n't|can not=ca n't"
    "|will not=wo n't|would not=would n't|could not=could n't|should not=should n't|have not=have n't|has not=has n't"
    "|it is=it 's|that is=that 's|i am=i 'm|you are=you 're|we are=we 're|they are=they 're|i have=i 've|i will=i 'll"
)
_EQUIVALENTS = (  # in both directions
    "big=large|begin=start|began=started|buy=purchase|bought=purchased|need to=have to|must=have to|very=really"
    "|very=extremely|maybe=perhaps|enough=sufficient|many=numerous|give=provide|show=demonstrate|children=kids"
    "|important=significant|people=individuals|think=believe|want=wish|especially=particularly|for example=for instance"
    "|i think=i believe|in my opinion=in my view|nowadays=these days|nowadays=today|often=frequently|usually=normally"
    "|film=movie|photo=picture|holiday=vacation|happy=glad|sad=unhappy|students=pupils|advantages=benefits"
    "|disadvantages=drawbacks|improve=enhance|happen=occur|choose=select|main=primary|money=cash|car=automobile"
    "|each=every|in spite of=despite|problem=issue|problems=issues|as well as=and also|a lot of=lots of|job=occupation"
)
_ONE_WAY = (
    "because=since|because=as|but=however ,|also=too|also=as well|too=as well|many=a lot of|much=a lot of|help=assist"
    "|regarding=about|obtain=get|therefore=so|such as=like|want=would like|difficult=hard|easy=simple|commence=begin"
    "|finish=end|enjoy=like|nice=pleasant|good=great|quickly=fast|entire=whole|inform=tell|attempt=try|utilise=use"
    "|speak=talk|in order to=to|due to=because of|all of the=all the|a large number of=many|allow=let|that is why=so"
)
_BOTH = [tuple(pair.split("=")) for pair in f"{_CONTRACTIONS}|{_EQUIVALENTS}".split("|")]
_REWORDINGS = [*_BOTH, *(pair[::-1] for pair in _BOTH), *(tuple(pair.split("=")) for pair in _ONE_WAY.split("|"))]
_MOVABLE = re.compile(r"(Because|When|If|Although|While|After|Before|Since) ([^,]{9,}) , ([^,]{9,}) (\.)")


class Pair(NamedTuple):
    """A source, a text that may say the same, 1 if it does, and where the text is from."""

    source: str
    text: str
    label: float
    kind: str


@dataclass(frozen=True, slots=True)
class Job(Options):
    """Everything that a training run depends on."""

    m2: tuple[Path, ...] = ()
    recipe: Recipe = RECIPE
    seeds: tuple[int, ...] = (1,)
    pairs: Count = 12_000
    mined: tuple[Path, ...] = ()
    adapter: Path | None = None

    def __post_init__(self) -> None:
        super(Job, self).__post_init__()
        if not self.m2:
            raise InputError("nothing to learn from: give an M2 file")


class Faithfulness(Regression):
    """Cross-entropy of the label; the best evaluation has the lowest loss on the dev fold."""

    greater_is_better = False
    loss = staticmethod(torch.nn.functional.binary_cross_entropy_with_logits)

    def __init__(self, adapter: Path | None = None) -> None:
        self.adapter = adapter

    def network(self, recipe: Recipe, base: Checkpoint) -> Any:
        """A new network, or that of an adapter to learn on."""
        network = super().network(recipe, base)
        return load_adapter(network, self.adapter) if self.adapter else network

    def model(self, network: Any, recipe: Recipe, rows: Sequence[Any]) -> Any:
        """The network with an output layer without bias."""
        return super().model(network, recipe, [(text, 0.0) for text, _ in rows])

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Share of pairs on the right side of 0."""
        return {"accuracy": float(((np.asarray(answers) > 0) == (np.asarray(expected) > 0.5)).mean())}

    def selection(self, metrics: Mapping[str, float]) -> float:
        """The loss on the dev fold."""
        return metrics["loss"]


def make_pairs(annotations: Mapping[str, Sequence[Sequence[Edit]]], corpus: Corpus, errors: Confusions, seed: int = 1):
    """Pairs of each source in turn, half of them negative: an iterator over [source, list of pairs]."""
    rng = random.Random(seed)
    for source in sorted(annotations, key=lambda text: random.Random(f"{seed}{text}").random()):
        positive = list(positives(source, annotations[source], errors, rng))
        positive = [pair for pair in positive if {len(pair.source.split()), len(pair.text.split())} <= set(LENGTH)]
        versions = [source, *(pair.text for pair in positive if pair.source == source)]
        negative = []
        for pair in positive:
            base = rng.choice((pair.text, pair.text, rng.choice(versions)))
            drawn = draw(base, corpus, rng)
            if drawn is not None:
                before = pair.source if rng.random() < 0.8 else rng.choice(versions)
                negative.append(Pair(before, drawn[1], 0.0, drawn[0]))
        yield [_spaced(pair, rng) for pair in dict.fromkeys(positive + negative)]


def positives(source: str, annotations: Sequence[Sequence[Edit]], errors: Confusions, rng: random.Random):
    """Pairs that say the same: an iterator."""
    references = list(dict.fromkeys(apply(source, edits) for edits in annotations))
    for reference in references:
        yield Pair(source, reference, 1.0, "reference" if reference != source else "unchanged")
    for left, right in rng.sample(
        [(a, b) for a in references for b in references if a != b], min(6, len(references) ** 2 - len(references))
    ):
        yield Pair(left, right, 1.0, "two references")
    edits = max(annotations, key=len)
    if len(edits) > 1:
        yield Pair(source, apply(source, rng.sample(edits, rng.randint(1, len(edits) - 1))), 1.0, "part")
    reference = rng.choice(references)
    noisy = errors.exchange(rng.choice((source, reference)), rng.randint(1, 3), rng)
    if noisy not in (source, reference):
        yield Pair(noisy, reference, 1.0, "errors")
    if rng.random() < 0.3:
        noisy = errors.exchange(reference, 1, rng)
        yield Pair(source, noisy, 1.0, "errors in the output")
    reworded = reword(reference, rng)
    if reworded != reference:
        yield Pair(source, reworded, 1.0, "reworded")


def reword(text: str, rng: random.Random) -> str:
    """A sentence in other words by rule: contractions, equivalents, a clause moved to the end."""
    moved = _MOVABLE.fullmatch(text)
    if moved and rng.random() < 0.7:
        first, condition, then, end = moved.groups()
        then = then if then.startswith("I ") else then[0].lower() + then[1:]
        text = f"{then[0].upper()}{then[1:]} {first.lower()} {condition} {end}"
    made = f" {text} "
    options = [pair for pair in _REWORDINGS if f" {pair[0]} " in made.lower()]
    for before, after in rng.sample(options, min(len(options), rng.randint(1, 3))):
        made = re.sub(
            f"(?i) {re.escape(before)} ", lambda found, new=after: _cased(found[0], f" {new} "), made, count=1
        )
    return made.strip()


def _cased(before: str, after: str) -> str:
    return f" {after[1].upper()}{after[2:]}" if before[1].isupper() else after


def _spaced(pair: Pair, rng: random.Random) -> Pair:
    if rng.random() >= _PROSE:
        return pair
    return pair._replace(source=detokenise(pair.source), text=detokenise(pair.text))


def read_pairs(job: Job) -> tuple[dict[str, list[Pair]], list[dict[str, Any]]]:
    """The pairs of each fold, and counts of each file; all pairs of one source are in one fold."""
    files = {path.name: read_annotations(path) for path in job.m2}
    rows = [(source, edits) for found in files.values() for source, some in found.items() for edits in some]
    corpus, errors = Corpus(apply(*row) for row in rows), Confusions(rows)
    folds: dict[str, list[Pair]] = {fold: [] for fold in FOLDS}
    counts = []
    for name, found in files.items():
        corrected = {source: some for source, some in found.items() if any(some)}
        made = 0
        for pairs in make_pairs(corrected, corpus, errors, job.seeds[0]):
            folds[_fold(pairs[0].source) if pairs else "train"] += pairs
            made += len(pairs)
            if made >= job.pairs:
                break
        counts.append({"corpus": name, "corrected": len(corrected), "pairs": made})
    rng = random.Random(job.seeds[0])
    for path in job.mined:
        pairs = [read_mined(line) for line in read_lines(path)]
        for pair in pairs:
            folds[_fold(pair.source)].append(_spaced(pair, rng))
        counts.append({"corpus": path.name, "corrected": len({pair.source for pair in pairs}), "pairs": len(pairs)})
    return folds, counts


def read_mined(line: str) -> Pair:
    """A pair of a line that `mine_meaning.py` wrote."""
    label, kind, source, text = line.split("\t")
    return Pair(source, text, float(label), kind)


def read_annotations(path: Path) -> dict[str, list[list[Edit]]]:
    """The edits of each annotator of a file by source, all that repeat a source together."""
    rows = ((sentence.source, edits) for sentence in read_m2(path) for edits in sentence.edits.values())
    return {source: edits for source, edits in by_source(rows).items() if len(source.split()) in LENGTH}


def _fold(source: str) -> str:
    return random.Random(source).choices(list(FOLDS), list(FOLDS.values()))[0]


def train_meaning(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Make pairs, fine-tune with each seed, and write the best, calibrated, as a checkpoint with results and card."""
    folder = Path(folder)

    def read(run: Path) -> Material:
        folds, counts = read_pairs(job)
        rows = [((pair.source, pair.text), pair.label) for pair in folds["train"]]
        dev = [((pair.source, pair.text), pair.label) for pair in folds["dev"]]
        kinds = Counter(pair.kind for pair in folds["train"])
        return Material(rows, dev, {"files": counts, "kinds": dict(kinds.most_common())}, folds)

    def finish(material: Material, weights: Path) -> dict[str, Any]:
        save(job.recipe, weights, folder, {})
        answers, labels = _answers(folder, material.test["dev"])
        scale = likeliest_scale(np.where(labels > 0.5, answers, -answers))
        rescale(folder, scale, 0.0)
        return {"scale": scale, "test": evaluate(folder, material.test["test"])}

    return train_network(job, folder, Faithfulness(job.adapter), read, finish, meaning_card, progress)


def calibration_error(probabilities: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: mean distance of share and probability over bins of equal width."""
    bin_of = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = [abs((probabilities - labels)[bin_of == index].sum()) for index in range(bins)]
    return float(sum(gaps) / len(labels))


def evaluate(folder: Path, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Shares on the right side of 0, of all pairs and by kind, and the calibration error of a finished checkpoint."""
    answers, labels = _answers(folder, pairs)
    right = (answers > 0) == (labels > 0.5)
    kinds = np.array([pair.kind for pair in pairs])
    return {
        "pairs": len(pairs),
        "accuracy": float(right.mean()),
        "calibration_error": calibration_error(1 / (1 + np.exp(-answers)), labels),
        "kinds": [
            {
                "kind": kind,
                "label": int(labels[kinds == kind][0]),
                "pairs": int(n),
                "right": float(right[kinds == kind].mean()),
            }
            for kind, n in Counter(kinds.tolist()).most_common()
        ],
    }


def _answers(folder: Path, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
    regressor = load_regressor(resolve(str(folder)))
    answers = regressor.logits([(pair.source, pair.text) for pair in pairs])[:, 0].astype(float)
    return answers, np.array([pair.label for pair in pairs])


_CARD = """{front}

# Faithfulness estimator: {name}

It reads a source and its correction together; the sigmoid of its logit is the probability that they say the same.
Whether the correction is correct does not count.

```python
import geceval

meaning = geceval.load("meaning"{model})
meaning.compute(sources=["He have two dog ."], predictions=["He has two dogs ."])
```

## How it was made

{made}

Positive pairs are what people wrote: a source with a correction (`reference`) or a part of its edits (`part`), two
corrections of one source (`two references`), a correction beside its source or itself with errors of other people
(`errors`, `errors in the output`), and corrections reworded by rule: contractions, equivalents, a clause moved
(`reworded`). Negative ones are made of these by the rules of `training/recipes/negatives.py`. Half of the pairs are
negative. Those of `training/mine_meaning.py`, if any, are the pairs about which the estimator of before was most wrong;
a `searched deletion` lacks words, found step by step so that `impara_lm` under its guard likes what is left.
The evaluation was chosen by the loss on the dev fold, where the logit was then multiplied by {scale:.3f},
with which the labels are likeliest. No source is in two folds.

{files}

**Never trained on**, so that they can show what it has understood: antonyms, pronouns, tenses, two words swapped,
look-alikes of letters, orders to a judge, exclamation marks, shuffled words, texts of a mark alone, and the wordings of
`geceval attack`, among them "I think that" and "Of course ," before a sentence and "Thank you ." behind it.

## Results

On the dev fold:

{runs}

On the test fold ({pairs} pairs), {accuracy:.3f} are on the right side of 0, and the expected calibration error (ten
bins) is {calibration_error:.3f}. By kind:

{kinds}
{evaluations}
## Limits

- It reads English, and at most {max_length} word pieces of both texts together; it does not see capitals or accents.
- Half of what it learnt from was false, which is far more than a correction system writes: the probability is one for
  texts as it learnt from, not for the outputs of a system.
- What keeps the words and turns their meaning around (antonyms, tense, who did it) escapes it more often than what
  adds or drops words.
"""


def meaning_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings, test = results["settings"], results["test"]
    base = "the encoder bundled with geceval" if settings["base"] == "bundled" else f"`{settings['base']}`"
    made = recipe_rows(settings, base, results["seed"])
    made.insert(2, pooling_row(settings))
    if settings.get("adapter"):
        made.insert(1, ("learns on", f"an adapter of a run before, SHA-256 {settings['adapter']['sha256'][:12]}"))
    if results.get("mean_with"):
        mean = f"the mean with those of another run, SHA-256 {results['mean_with'][:12]}; the test is without"
        made.append(("what is bundled", mean))
    hashes = {entry["file"]: entry["sha256"][:12] for entry in (*settings["m2"], *settings.get("mined", ()))}
    files = [(row["corpus"], hashes[row["corpus"]], row["corrected"], row["pairs"]) for row in results["data"]["files"]]
    trained = results["data"]["kinds"]
    kinds = [
        (row["kind"], "yes" if row["label"] else "no", trained.get(row["kind"], 0), row["pairs"], row["right"])
        for row in test["kinds"]
    ]
    return _CARD.format(
        front=front_matter(settings["base"], "text-classification", _TAGS),
        name=folder.name,
        model="" if folder.name == "meaning" else f', model="{folder.name}"',
        made=table(("setting", "value"), made),
        scale=results["scale"],
        files=table(("corpus", "SHA-256", "corrected sentences", "pairs"), files),
        runs=table(
            ("seed", "best epoch", "loss", "accuracy", "seconds"), run_rows(results["runs"], ("loss", "accuracy"))
        ),
        kinds=table(("kind", "says the same", "training pairs", "test pairs", "right"), kinds),
        evaluations=evaluation_tables(results),
        max_length=read_json(folder / "config.json")["geceval_max_length"],
        **{name: test[name] for name in ("pairs", "accuracy", "calibration_error")},
    )
