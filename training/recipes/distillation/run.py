"""Distillation of IMPARA-LM, from corrected sentences to a small language model with its card."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from safetensors.torch import load_file

from geceval.core.errors import InputError
from geceval.core.files import read_json, read_lines, write_text
from geceval.core.options import Count, Options, Range, RunTime
from geceval.corpora.ratings import rated_outputs, read_tmu_gfm
from geceval.edits.m2 import read_m2
from geceval.learning.cards import evaluation_tables, front_matter, recipe_rows, runs_table, table
from geceval.learning.impara_lm import RATED_GAP, learn_head
from geceval.learning.network import load_trained, write_network
from geceval.learning.ranked_pairs import RankedPair, read_rated_pairs
from geceval.learning.recipe import Recipe
from geceval.learning.runs import Material, train_network
from geceval.models.causal import CausalModel, QualityHead, save_quality_head, start_of
from geceval.models.checkpoints import resolve
from geceval.models.tokenizers import load_tokenizer
from recipes.distillation.groups import Group, make_groups
from recipes.distillation.objective import BITS, GAP, Distillation, restore_weights
from recipes.distillation.student import make_student, needed_tokens
from recipes.distillation.teacher import Scored, Teacher, read_scores, score_groups, token_rows
from recipes.quantising import write_weights

RIDGE = 2.0  # penalty of the head that learns from ratings
RECIPE = Recipe(
    base="smollm2-impara",  # the teacher
    learning_rate=1e-4,
    schedule="linear",
    warmup=0.03,
    batch_size=8,
    epochs=1,
    evaluations=4,
    max_length=96,
    dtype="bfloat16",
)


@dataclass(frozen=True, slots=True)
class Job(Options):
    """Everything that a distillation depends on."""

    m2: tuple[Path, ...] = ()
    sentences: tuple[Path, ...] = ()
    recipe: Recipe = RECIPE
    seeds: tuple[int, ...] = (1,)
    texts: Count = 150_000
    errors: Annotated[int, Range(0)] = 3
    held: Count = 256
    layers: Count = 12
    vocabulary: Count = 20_480
    ratings: Path | None = None

    def __post_init__(self) -> None:
        super(Job, self).__post_init__()
        if not self.m2:
            raise InputError("nothing to learn from: give an M2 file")
        if self.recipe.lora_rank or self.recipe.dropout:
            raise InputError("a student learns with all its weights: no lora_rank and no dropout")


def distill(job: Job, folder: str | Path, progress: bool = False) -> dict[str, Any]:
    """Score texts with the teacher, make a student of it, and teach it; write it with results and card."""
    folder = Path(folder)
    teacher = resolve(job.recipe.base)
    runtime = RunTime(dtype=job.recipe.dtype, progress=progress)
    start, _ = start_of(load_tokenizer(teacher), teacher.setting("start_token"), teacher.identity)
    objective = Distillation(start)

    def read(run: Path) -> Material:
        groups = read_groups(job)
        rated, pairs = [], []
        if job.ratings is not None:
            rated, pairs = rated_groups(job.ratings), read_rated_pairs(job.ratings, gap=RATED_GAP)
        untaught = run / "start"
        if not (untaught / "tokenizer.json").is_file():  # which is written last
            reader = CausalModel.load(teacher, RunTime(device="cpu", dtype="float32"))
            make_student(reader, job.layers, _tokens(job, reader, groups), untaught)
        score_groups(lambda: Teacher(teacher, runtime, job.recipe.max_length), groups, run / "scores", progress)
        scored = list(read_scores(run / "scores", len(groups)))
        held, rows = hold_apart(scored, job.held)
        counts = {"groups": len(scored), "texts": sum(len(row.values) for row in scored)}
        return Material(rows, {"held": held, "rated": rated} if rated else {"held": held}, counts, pairs)

    def finish(material: Material, weights: Path) -> dict[str, Any]:
        return write_student(job, objective, weights, folder, runtime, material.test)

    return train_network(job, folder, objective, read, finish, distillation_card, progress, start="start")


def write_student(
    job: Job, objective: Distillation, trained: Path, folder: Path, runtime: RunTime, pairs: Sequence[RankedPair]
) -> dict[str, dict[str, Any]]:
    """Write what a run has learnt as a checkpoint; with rated pairs, a second head and a factor learn from them."""
    recipe = dataclasses.replace(job.recipe, base=str(folder / "run" / "start"))
    base = resolve(recipe.base)
    model = objective.network(recipe, base)
    load_trained(model, trained)
    restore_weights(model.network)
    write_network(recipe, base, model.network, folder, {"start_token": objective.start})
    weights = folder / "model.safetensors"
    write_weights(load_file(weights), weights, BITS)
    head = QualityHead(job.layers, model.head().detach())
    write_head(folder, head)
    if not pairs:
        return {}
    reader = CausalModel.load(resolve(str(folder)), runtime)
    factor, second, measured = learn_head(reader, pairs, head.layer, RIDGE, runtime, scale=0.0)
    write_head(folder, QualityHead(head.layer, factor * head.weight + second.weight))
    return {"head": measured}


def write_head(folder: Path, head: QualityHead) -> None:
    """Give the checkpoint in a folder the head w, in place of one that it may have, and no weight of likelihood."""
    save_quality_head(head, folder)
    config = read_json(folder / "config.json") | {"geceval_scale": 0.0, "geceval_head_layer": head.layer}
    write_text(folder / "config.json", json.dumps(config, indent=2) + "\n")


def read_groups(job: Job) -> list[Group]:
    """The groups of texts that the files of a job give, those that are kept apart first."""
    read = [sentence for path in job.m2 for sentence in read_m2(path)]
    rows = [(sentence.source, edits) for sentence in read for edits in sentence.edits.values() if edits]
    plain = [sentence.source for sentence in read if not any(sentence.edits.values())]
    plain += [line for path in job.sentences for line in read_lines(path)]
    groups = make_groups(rows, plain, job.texts, job.errors)
    _check_held(len(groups), job.held)
    return groups


def _check_held(groups: int, held: int) -> None:
    if groups <= held:
        raise InputError(
            f"groups of texts: {groups}, of which {held} are kept apart (held); give more corrected sentences, "
            "or keep fewer groups apart"
        )


def hold_apart(rows: list[Scored], held: int) -> tuple[list[Scored], list[Scored]]:
    """The first groups, kept apart to measure agreement with the teacher, and the others, to learn from."""
    _check_held(len(rows), held)
    _check_told("groups kept apart (held)", rows[:held])
    return rows[:held], rows[held:]


def _check_told(name: str, rows: Sequence[Scored]) -> None:
    if max((np.ptp(row.values) for row in rows), default=0.0) < GAP - 1e-6:
        raise InputError(f"{name}: no two texts of a sentence differ by {GAP} or more, so that nothing can be measured")


def rated_groups(path: Path) -> list[Scored]:
    """The outputs of each source of TMU-GFM-Dataset with what people think of them."""
    outputs = rated_outputs(read_tmu_gfm(path)).values()
    rated = [Scored(Group(tuple(texts)), np.array(list(texts.values())), True) for texts in outputs if len(texts) > 1]
    _check_told(str(path), rated)
    return rated


def _tokens(job: Job, teacher: CausalModel, groups: Sequence[Group]) -> list[int]:
    """The tokens that the student keeps: those that the texts have most often."""
    texts = [text for group in groups for text in group.texts]
    counts = Counter(token for row in token_rows(teacher.tokenizer, teacher.start, texts) for token in row)
    special = {teacher.start_token, *teacher.tokenizer.special_tokens_map.values()}
    return needed_tokens(teacher.tokenizer, counts, job.vocabulary, sorted(special))


_CARD = """{front}

# IMPARA-LM student: {name}

A causal language model of {layers} layers and {vocabulary} tokens, {bits} bits a weight, that learnt from a larger one,
`{teacher}`, which version of a sentence is worth more. The quality of a text Y is
q(Y) = w . h(Y), h(Y) the mean of its token states after the last layer.
Differences between corrections of one source are log-odds that the first is better; q by itself depends on the source.

```python
import geceval

impara_lm = geceval.load("impara_lm"{model})
impara_lm.compute(sources=["This are a sentence ."], predictions=["This is a sentence ."])
```

## How it was made

{made}

The teacher read {data[texts]} texts in {data[groups]} groups, of which {held} were kept apart: sources, their
corrections and partial corrections, and {errors} texts a group with errors that people made in other sentences. The
loss is the sum of two, of differences of q within a group and of their order.

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
        bits=BITS,
        start=config["geceval_start_token"],
        made=table(("setting", "value"), recipe_rows(settings, _start(settings, config), results["seed"])),
        data=results["data"],
        errors=settings["errors"],
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
