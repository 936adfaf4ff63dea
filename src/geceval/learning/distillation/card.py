"""The model card of a student, made from the numbers of its run, nothing typed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geceval.core.files import read_json
from geceval.learning.card_parts import evaluation_tables, front_matter, recipe_rows, table
from geceval.learning.distillation.objective import GAP
from geceval.learning.impara.card import runs_table

_CARD = """{front}

# IMPARA-LM student: {name}

A causal language model of {layers} layers and {vocabulary} tokens, {bits} bits a weight, that learnt from a larger one,
`{teacher}`, {learnt}. The quality of a text Y is
{formula}, h(Y) the mean of its token states after the last layer.
Differences between corrections of one source are log-odds that the first is better; q by itself depends on the source.

```python
import geceval

impara_lm = geceval.load("impara_lm"{model})
impara_lm.compute(sources=["This are a sentence ."], predictions=["This is a sentence ."])
```

## How it was made

{made}

The teacher read {data[texts]} texts in {data[groups]} groups, of which {held} were kept apart: sources, their
corrections and partial corrections, and {errors} texts a group with errors that people made in other sentences. Weights
of the losses: {weights[0]:g} for the divergence of next tokens, {weights[1]:g} for differences of q within a group,
{weights[2]:g} for their order.

{files}

## Results

`held`: {held} groups that were kept apart; accuracy is the share of pairs in the teacher's order among those that it
finds at least {gap:g} apart. `rated`: outputs that people rated (TMU-GFM), in the order of people, likewise.

{runs}
{head}{evaluations}
## Limits

- It reads English. Texts are read as prose, without the spaces of tokenisation, after the token `{start}`.
- It never sees the source: meaning is not guarded unless a threshold of similarity is set.
- What its teacher does not know, it does not know: frequent words seem better than rare ones, and what the annotators
  of the teacher's corpora favour seems better than what others do.
"""

_LIKELIHOOD = "q(Y) = t * LL(Y) / sqrt(n) + w . h(Y), LL its log-likelihood, n its number of words, t = {scale:.3g}"

_HEAD = """
Last, what it had learnt from the teacher was multiplied by a factor and a second head was added to it; both learnt from
{pairs} pairs of outputs of one source that people rated at least {gap:g} apart (TMU-GFM; ridge {ridge:g}). Pairs in the
order of people: before {accuracy:.3f}, with what was learnt from other sources only
(five parts) {accuracy_with_head:.3f}. Where the teacher learnt from the same ratings, so has the student.
"""


def distillation_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings, config = results["settings"], read_json(folder / "config.json")
    teacher = settings["base"]
    files = [(entry["file"], entry["sha256"][:12]) for entry in (*settings["m2"], *settings["sentences"])]
    return _CARD.format(
        front=front_matter(teacher, "text-generation", ["grammatical-error-correction", "evaluate", "impara_lm"]),
        name=folder.name,
        model="" if folder.name == "impara_lm" else f', model="{folder.name}"',
        layers=config["num_hidden_layers"],
        vocabulary=config["vocab_size"],
        teacher=Path(teacher).name,
        bits=settings["bits"],
        learnt=("how texts go on and " if settings["weights"][0] else "") + "which version of a sentence is worth more",
        formula=_LIKELIHOOD.format(scale=scale) if (scale := config["geceval_scale"]) else "q(Y) = w . h(Y)",
        start=config["geceval_start_token"],
        made=table(("setting", "value"), recipe_rows(settings, _start(settings, config), results["seed"])),
        data=results["data"],
        errors=settings["errors"],
        weights=settings["weights"],
        files=table(("corpus", "SHA-256"), files),
        held=settings["held"],
        gap=GAP,
        runs=runs_table(results["runs"]),
        head=_HEAD.format(**{**settings, **results["head"]}) if "head" in results else "",
        evaluations=evaluation_tables(results),
    )


def _start(settings: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    layers, tokens = settings["layers"], config["vocab_size"]
    return f"the first {layers} layers of the teacher, and the {tokens} of its tokens that the texts need most"
