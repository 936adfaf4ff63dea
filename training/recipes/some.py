"""SOME (Yoshimura et al. 2020): three regressors that learn human ratings, their training and card."""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset

from geceval.core.errors import InputError
from geceval.core.files import write_text
from geceval.core.options import Count, Options, RunTime
from geceval.corpora.ratings import Rating, read_tmu_gfm
from geceval.learning.cards import evaluation_tables, front_matter, pooling_row, recipe_rows, run_rows, table
from geceval.learning.loop import Collator, Objective, best_of
from geceval.learning.network import head_pooling, portable_name, save
from geceval.learning.recipe import Recipe
from geceval.learning.runs import fit_seeds, network_file, train
from geceval.models.batched_model import Text, pad
from geceval.models.causal import CausalModel, QualityHead, save_quality_head
from geceval.models.checkpoints import Checkpoint, is_bundled, resolve, weights_sha256
from geceval.models.loading import read_config
from geceval.models.origins.named import name_of_asset
from geceval.models.pooling import logits
from geceval.models.regressors import StateRegressor, load_regressor, pooled
from geceval.scorers.some import PARTS

# Usual values for BERT; the paper tuned its values on the dev fold.
RECIPE = Recipe(learning_rate=2e-5, schedule="linear", warmup=0.1, batch_size=16, epochs=10)
RIDGE = (300.0, 1000.0, 3000.0, 10000.0)  # penalties of a head, of which the best is kept

Rated = tuple[Text, float]
"""A text, or a pair that the network reads together, and its rating."""


@dataclass(frozen=True, slots=True)
class Job(Options):
    """Everything that a training run depends on."""

    ratings: Path
    recipe: Recipe = RECIPE
    meaning_base: str | None = None
    head_layer: Count | None = None
    seeds: tuple[int, ...] = (1,)
    dev: Count = 422
    test: Count = 423

    def __post_init__(self) -> None:
        super(Job, self).__post_init__()
        if self.head_layer is not None and self.recipe.lora_rank:
            raise InputError("head_layer leaves the base as it is; leave out lora_rank, or head_layer")

    def recipe_of(self, part: str) -> Recipe:
        """How one of the three is fine-tuned."""
        base = self.meaning_base if part == "meaning" else None
        return dataclasses.replace(self.recipe, base=base or self.recipe.base)


class TextModel(torch.nn.Module):
    """A sequence classifier with one output and the pooling that its checkpoint will state."""

    def __init__(self, network: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.pooling = network, pooling

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """The network's answers: inputs [texts, tokens] to [texts]."""
        return logits(self.network, batch, self.pooling)[:, 0].float()


class RatedCollator(Collator):
    """Pads the texts or pairs of a batch to the longest."""

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids, their mask and, where rows have them, token types, each [rows, tokens], and ratings [rows]."""
        batch = {**super().__call__(rows), "labels": torch.tensor([row["labels"] for row in rows]).float()}
        if "token_type_ids" in rows[0]:
            batch["token_type_ids"] = pad([row["token_type_ids"] for row in rows], 0)
        return batch


class Regression(Objective):
    """Minimises the mean squared error; rows are all texts or all pairs."""

    collator = RatedCollator
    loss = staticmethod(torch.nn.functional.mse_loss)

    def model(self, network: Any, recipe: Recipe, rows: Sequence[Rated]) -> TextModel:
        """The network with the bias of its output layer set to the mean rating, so that it need not be learnt first."""
        with torch.no_grad():
            for module in network.modules():
                if isinstance(module, torch.nn.Linear) and module.out_features == 1 and module.bias is not None:
                    module.bias.fill_(float(np.mean([rating for _, rating in rows])))
        return TextModel(network, head_pooling(recipe, network.config))

    def encode(self, rows: Sequence[Rated], tokenizer: Any, max_length: int) -> Dataset:
        """Token ids and ratings, with token types of pairs if the tokenizer has them; cut at `max_length`."""
        if not rows:
            raise InputError("there is no rated text to learn from")
        texts, ratings = zip(*rows, strict=True)
        paired = isinstance(texts[0], tuple)
        columns = [list(column) for column in zip(*texts, strict=True)] if paired else [list(texts)]
        encoded = tokenizer(*columns, truncation=True, max_length=max_length, return_attention_mask=False)
        names = [name for name in ("input_ids", *(["token_type_ids"] if paired else [])) if name in encoded]
        lengths = [len(ids) for ids in encoded["input_ids"]]
        return Dataset.from_dict(
            {**{name: encoded[name] for name in names}, "labels": list(ratings), "length": lengths}
        )

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The mean loss of a batch; answers and ratings, [texts]."""
        batch = dict(batch)
        ratings = batch.pop("labels")
        answers = model(**batch)
        return self.loss(answers, ratings), answers, ratings

    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Correlations and the mean squared error."""
        return correlations(answers, expected)

    def selection(self, metrics: Mapping[str, float]) -> float:
        """Pearson's r (section 4 of the paper)."""
        return metrics["pearson"]


def correlations(answers: Sequence[float], ratings: Sequence[float]) -> dict[str, float]:
    """Pearson, Spearman (average ranks) and the mean squared error; correlations are 0 where one side is constant."""
    from scipy.stats import pearsonr, spearmanr

    answers, ratings = np.asarray(answers, dtype=float), np.asarray(ratings, dtype=float)
    constant = not (np.ptp(answers) and np.ptp(ratings))
    return {
        "pearson": 0.0 if constant else float(pearsonr(answers, ratings).statistic),
        "spearman": 0.0 if constant else float(spearmanr(answers, ratings).statistic),
        "mse": float(np.mean((answers - ratings) ** 2)),
    }


def learn_head(
    base: str, layer: int, rows: Sequence[Rated], dev: Sequence[Rated], runtime: RunTime
) -> tuple[StateRegressor, dict[str, Any]]:
    """Fit a head with each penalty, and choose by Pearson's r on the dev fold."""
    model = CausalModel.load(resolve(base), runtime)
    texts, ratings = zip(*rows, strict=True)
    dev_texts, dev_ratings = zip(*dev, strict=True)
    states = pooled(model, texts, layer, runtime)
    found = {}
    for penalty in RIDGE:
        weight, bias = ridge(states, np.array(ratings), penalty)
        head = StateRegressor(model, QualityHead(layer, torch.from_numpy(weight)), bias)
        found[penalty] = head, correlations(head.logits(dev_texts, runtime)[:, 0], dev_ratings)
    best = max(found, key=lambda penalty: found[penalty][1]["pearson"])
    tried = [{"penalty": penalty, "pearson": scores["pearson"]} for penalty, (_, scores) in found.items()]
    return found[best][0], {"layer": layer, "penalty": best, "dev": found[best][1], "tried": tried}


def ridge(states: np.ndarray, ratings: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """The weights and the intercept with the least squared error plus penalty."""
    centre, deviation = states.mean(axis=0), states.std(axis=0) + 1e-6
    rows = (states - centre) / deviation
    gram = rows.T @ rows + penalty * np.eye(rows.shape[1])
    weight = (np.linalg.solve(gram, rows.T @ (ratings - ratings.mean())) / deviation).astype(np.float32)
    return weight, float(ratings.mean() - centre @ weight.astype(np.float64))


def check_layer(base: Checkpoint, layer: int) -> None:
    """Raise an `InputError` if the base has fewer layers."""
    layers = read_config(base).get_text_config().num_hidden_layers
    if layer > layers:
        raise InputError(f"head_layer is {layer}, but the base has {layers} layers")


def save_head(regressor: StateRegressor, base: str, folder: Path) -> None:
    """Write a head as a checkpoint: its weights, and a `config.json` that names its base."""
    save_quality_head(regressor.head, folder)
    config = {
        "geceval_base": portable_name(base, folder),
        "geceval_base_sha256": weights_sha256(resolve(base)),
        "geceval_head_bias": regressor.bias,
        "geceval_head_layer": regressor.head.layer,
    }
    write_text(folder / "config.json", json.dumps(config, indent=2) + "\n")


def train_some(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Fine-tune three regressors with each seed, and write the best as one checkpoint with results and card."""
    folder = Path(folder)

    def read(run: Path) -> dict[str, list[Rating]]:
        for part in PARTS:
            base = resolve(job.recipe_of(part).base)  # said before the first of them has been trained
            check_layer(base, job.head_layer or 0)
        return split_ratings(read_tmu_gfm(job.ratings), job.dev, job.test)

    runtime = RunTime(dtype=job.recipe.dtype, progress=progress)

    def learn(folds: dict[str, list[Rating]], run: Path) -> dict[str, Any]:
        learnt = {}
        for part in sorted(PARTS, key=lambda part: part != "meaning"):  # it reads the texts of the others too
            rows, dev = (rated_texts(folds[fold], part) for fold in ("train", "dev"))
            recipe = job.recipe_of(part)
            if job.head_layer is None:
                learnt[part] = fit_seeds(Regression(), job, recipe, rows, dev, run / part, progress)
            else:
                learnt[part] = learn_head(recipe.base, job.head_layer, rows, dev, runtime)
        return learnt

    def finish(folds: dict[str, list[Rating]], learnt: dict[str, Any]) -> dict[str, Any]:
        counts = [
            {"fold": fold, "outputs": len(rows), "sources": len({rating.source for rating in rows})}
            for fold, rows in folds.items()
        ]
        return {
            "data": counts,
            "parts": {part: _finish(job, folder, part, learnt[part], folds["test"]) for part in PARTS},
        }

    return train(job, folder, read, learn, finish, some_card)


def split_ratings(ratings: list[Rating], dev: int, test: int, seed: int = 1) -> dict[str, list[Rating]]:
    """Split ratings into folds so that no source is in two of them."""
    # Shuffled sources go to the test fold one by one as long as all their outputs fit there, then likewise to the dev
    # fold. While there are sources with a single output, both folds get exactly the sizes asked for.
    outputs = Counter(" ".join(rating.source.split()) for rating in ratings)
    sources = sorted(outputs)
    random.Random(seed).shuffle(sources)
    fold_of = dict.fromkeys(sources, "train")
    for fold, size in (("test", test), ("dev", dev)):
        for source in sources:
            if fold_of[source] == "train" and outputs[source] <= size:
                fold_of[source], size = fold, size - outputs[source]
    folds: dict[str, list[Rating]] = {"train": [], "dev": [], "test": []}
    for rating in ratings:
        folds[fold_of[" ".join(rating.source.split())]].append(rating)
    for fold, rows in folds.items():
        if not rows:
            raise InputError(f"the {fold} fold is empty: {len(ratings)} ratings are too few for dev={dev}, test={test}")
    return folds


def rated_texts(ratings: Sequence[Rating], part: str) -> list[tuple[str | tuple[str, str], float]]:
    """The texts that the regressor of one sub-metric reads, with mean ratings; for meaning, (source, output) pairs."""
    return [
        ((rating.source, rating.output) if part == "meaning" else rating.output, getattr(rating, part))
        for rating in ratings
    ]


def evaluate(folder: str | Path, part: str, ratings: Sequence[Rating]) -> dict[str, float]:
    """Pearson, Spearman and the mean squared error of one regressor of a finished checkpoint."""
    texts, gold = zip(*rated_texts(ratings, part), strict=True)
    regressor = load_regressor(resolve(folder, part=PARTS[part]))
    return correlations(regressor.logits(texts)[:, 0], gold)


def evaluate_fold(folder: Path, settings: Mapping[str, Any], ratings: Path) -> dict[str, dict[str, dict[str, float]]]:
    """What `evaluate` gives on the test fold, by sub-metric, for texts as they are and with spaced tokens."""
    test = split_ratings(read_tmu_gfm(ratings), settings["dev"], settings["test"])["test"]
    return {part: _evaluate_test(folder, part, test) for part in PARTS}


def _evaluate_test(folder: Path, part: str, test: Sequence[Rating]) -> dict[str, dict[str, float]]:
    return {"test": evaluate(folder, part, test), "test_tokenised": evaluate(folder, part, tokenised(test))}


def tokenised(ratings: Sequence[Rating]) -> list[Rating]:
    """The same texts with a space around every token, by spaCy's rules for English."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer

    def spaced(text: str) -> str:
        return " ".join(token.text for token in tokenizer(text) if not token.is_space)

    return [dataclasses.replace(r, source=spaced(r.source), output=spaced(r.output)) for r in ratings]


def _finish(job: Job, folder: Path, part: str, learnt: Any, test: Sequence[Rating]) -> dict[str, Any]:
    """Write the best network, or the head, of one sub-metric as a checkpoint, and evaluate it on the test fold."""
    target = folder / PARTS[part]
    target.mkdir(exist_ok=True)
    recipe = job.recipe_of(part)
    if job.head_layer is None:
        best = best_of(Regression(), learnt)
        save(recipe, network_file(folder / "run" / part, best["seed"]), target, {})
        facts = {"runs": learnt, "seed": best["seed"]}
    else:
        head, found = learnt
        save_head(head, recipe.base, target)
        facts = {"head": found}
    return {"base": recipe.base, **facts, **_evaluate_test(folder, part, test)}


# Yoshimura et al. (2020), Table 2, the last three rows: Pearson and Spearman on their own test fold.
_PAPER = {"grammaticality": (0.700, 0.719), "fluency": (0.676, 0.696), "meaning": (0.639, 0.619)}

_TAGS = ["grammatical-error-correction", "evaluate", "some"]

_NETWORKS = {
    "pair": "reads source and correction",
    "choice": "the epoch, and of\nseveral seeds the best, was",
    "limit": ", and at most {max_length} word pieces of a text; source and correction share them",
}
_HEADS = {
    "pair": "sees how far the mean states of source and correction are apart",
    "choice": "the penalty of\nthe weights was",
    "limit": "",
}

_CARD = """{front}

# SOME regressors: {name}

Three regressors (Yoshimura et al. 2020) that answer on the scale of human ratings, 1 to 4: how grammatical a corrected
sentence is (`grammer/`, spelt as in the published checkpoint), how fluent (`fluency/`), and how much of the meaning of
its source it keeps (`meaning/`, which {pair}).

```python
import geceval

some = geceval.load("some"{model})
some.compute(sources=["This are a sentence ."], predictions=["This is a sentence ."])
```

## How they were made

{made}

Each learnt the mean of the five ratings of an output, zeros ("other") left out, by squared error; \
{choice} chosen by Pearson's r on the dev fold. No source is in two folds:

{folds}

Data: {file} (SHA-256 {hash}), TMU-GFM-Dataset: outputs of five systems for sentences of CoNLL-2013, each
rated by five people. It was published without a licence.

## Results

On the dev fold:

{runs}

On the test fold, which chose nothing; beside it what Yoshimura et al. (2020, Table 2) found for BERT-base on a test
fold of their own, 423 outputs of the same data:

{tests}
{evaluations}
## Limits

- The rated texts are not tokenised ("don't do it."), the texts of GEC are ("do n't do it ."). The last columns of the
  table above are for the test fold with its tokens spaced by spaCy's rules.
- It reads English{limit}.
- An answer can leave the scale: a sub-score of `geceval.load("some")` is (answer - 1) / 3, not clipped.
- The ratings are of systems of 2020 on essays of one group of learners; they were seldom 2 or lower.
"""


def some_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings, parts = results["settings"], results["parts"]
    name = name_of_asset(folder.name).removeprefix("bundled:")
    bundled = is_bundled(settings["base"])
    heads = settings.get("head_layer") is not None
    return _CARD.format(
        front=front_matter(settings["base"], "text-classification", _TAGS),
        name=name,
        model="" if bundled and name == "some" else f', model="{name}"',
        made=(_made_heads if heads else _made)(settings, parts),
        folds=table(("fold", "outputs", "sources"), [entry.values() for entry in results["data"]]),
        file=settings["ratings"]["file"],
        hash=settings["ratings"]["sha256"][:12],
        runs=(_dev_of_heads if heads else _runs)(parts),
        tests=_tests(parts),
        evaluations=evaluation_tables(results),
        **{name: text.format(**settings) for name, text in (_HEADS if heads else _NETWORKS).items()},
    )


def _made(settings: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    kept = ", ".join(f"{part['seed']} ({name})" for name, part in parts.items())
    rows = recipe_rows(settings, _bases(parts), kept)
    rows.insert(2, pooling_row(settings))
    return table(("setting", "value"), rows)


def _made_heads(settings: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    penalties = ", ".join(f"{part['head']['penalty']:g} ({name})" for name, part in parts.items())
    rows = [
        ("base, which stays as it is", _bases(parts)),
        ("what is learnt", f"a linear layer over the mean token state after {settings['head_layer']} layers"),
        ("how", "ridge regression"),
        ("penalties, each dimension in its deviations", f"of {_numbers(RIDGE)}; chosen: {penalties}"),
        ("precision of the states", settings["dtype"]),
    ]
    return table(("setting", "value"), rows)


def _bases(parts: Mapping[str, Any]) -> str:
    bases = list(dict.fromkeys(part["base"] for part in parts.values()))
    if len(bases) == 1:
        return f"`{bases[0]}`"
    return ", ".join(f"`{part['base']}` ({name})" for name, part in parts.items())


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _dev_of_heads(parts: Mapping[str, Any]) -> str:
    rows = [
        (name, *part["head"]["dev"].values(), _numbers([round(tried["pearson"], 3) for tried in part["head"]["tried"]]))
        for name, part in parts.items()
    ]
    return table(("regressor", "Pearson", "Spearman", "mean squared error", "Pearson with each penalty"), rows)


def _runs(parts: Mapping[str, Any]) -> str:
    rows = [
        [name, *row] for name, part in parts.items() for row in run_rows(part["runs"], ("pearson", "spearman", "mse"))
    ]
    return table(("regressor", "seed", "best epoch", "Pearson", "Spearman", "mean squared error", "seconds"), rows)


def _tests(parts: Mapping[str, Any]) -> str:
    rows = [
        (
            *(name, *(parts[name]["test"][score] for score in ("pearson", "spearman", "mse"))),
            *(*_PAPER[name], *(parts[name]["test_tokenised"][score] for score in ("pearson", "spearman"))),
        )
        for name in PARTS
    ]
    columns = ("regressor", "Pearson", "Spearman", "mean squared error", "paper: Pearson", "paper: Spearman")
    return table((*columns, "tokenised: Pearson", "tokenised: Spearman"), rows)
