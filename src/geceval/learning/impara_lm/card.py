"""The model card of an IMPARA-LM checkpoint, made from the numbers of its run, nothing typed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geceval.core.files import read_json
from geceval.learning.card_parts import evaluation_tables, front_matter, recipe_rows, table
from geceval.learning.impara.card import corpora_table, runs_table
from geceval.models.origins.named import name_of_asset

_CARD = """{front}

# IMPARA-LM quality estimator: {name}

A causal language model that learnt, as IMPARA does (Maeda et al. 2022), to prefer of two partial corrections of one
sentence the one whose edits move its meaning more. The quality of a text Y of n words is q(Y) = {formula}, LL its
log-likelihood and t = {scale:.3g}. Differences between corrections of one source are log-odds that the first is better;
q by itself depends on the source.

```python
import geceval

impara_lm = geceval.load("impara_lm", model="{name}")
impara_lm.compute(sources=["This are a sentence ."], predictions=["This is a sentence ."])
```

## How it was made

{made}

{corpora}

Sources are divided 8:1:1 before pairs are made, so no source is in two folds. {kind}

## Results

Loss is the mean of log(1 + exp(q(worse) - q(better))): .693 is chance. Accuracy is the share of pairs whose better text
gets the higher score.

{runs}

On the test fold of the pairs ({test[pairs]} pairs, never used to choose anything) the finished checkpoint has loss
{test[loss]:.3f} and accuracy {test[accuracy]:.3f}; its base, untrained, has accuracy {untrained[accuracy]:.3f}.
{head}{evaluations}
## Limits

- It reads English. Texts are read as prose, without the spaces of tokenisation, after the token `{start}`.
- It never sees the source: meaning is not guarded unless a threshold of similarity is set.
- A language model finds frequent words likelier than rare ones, right or wrong.
- It favours what the annotators of its training corpora favour; another domain or style wants its own training.
"""

_HEAD = """
h(Y) is the mean token state after {layer} layers. Its weights w, and t, were learnt last, on {pairs} pairs of outputs
of one source that people rated at least {gap:g} apart (TMU-GFM; ridge {ridge:g}). Pairs in the order of people: by
likelihood alone {accuracy:.3f}, with a head that learnt from other sources only (five parts) {accuracy_with_head:.3f}.
"""


def impara_lm_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings, config = results["settings"], read_json(folder / "config.json")
    name = name_of_asset(folder.name).removeprefix("bundled:")
    return _CARD.format(
        front=front_matter(
            settings["base"], "text-generation", ["grammatical-error-correction", "evaluate", "impara_lm"]
        ),
        name=name,
        scale=config["geceval_scale"],
        start=config["geceval_start_token"],
        made=_made(settings, results["seed"]),
        corpora=corpora_table(results["data"], settings),
        kind=_kind(settings),
        runs=runs_table(results["runs"]),
        test=results["test"],
        untrained=results["untrained"],
        formula="t * LL(Y) / sqrt(n)" + (" + w . h(Y)" if "head" in results else ""),
        head=_head(results.get("head"), config, settings),
        evaluations=evaluation_tables(results),
    )


def _made(settings: Mapping[str, Any], seed: int) -> str:
    rows = recipe_rows(settings, f"`{settings['base']}`", seed)
    if rank := settings["keep_rank"]:
        rows.insert(2, ("kept", f"its best approximation of rank {rank}"))
    return table(("setting", "value"), rows)


def _kind(settings: Mapping[str, Any]) -> str:
    drawn = f"At most {settings['attempts']} pairs were drawn from one correction; ties of impact were dropped."
    share = settings["corrections"]
    return f"{drawn} {share:.0%} of the pairs are source and full correction." if share else drawn


def _head(found: Mapping[str, Any] | None, config: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    return "" if found is None else _HEAD.format(**{**settings, **found}, layer=config["geceval_head_layer"])
