"""The model card of a SOME checkpoint, made from the numbers of its run; nothing in it is typed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.learning.card_parts import evaluation_tables, front_matter, pooling_row, recipe_rows, run_rows, table
from geceval.models.checkpoints import is_bundled
from geceval.models.origins.named import name_of_asset
from geceval.scorers.some import PARTS

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
        ("penalties, each dimension in its deviations", f"of {_numbers(settings['ridge'])}; chosen: {penalties}"),
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
