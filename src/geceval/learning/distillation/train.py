"""Distillation of IMPARA-LM, from corrected sentences to a small language model; called by `training/distill.py`."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.torch import load_file

from geceval.core.errors import InputError
from geceval.core.files import file_sha256, read_json, read_lines, write_text
from geceval.core.options import RunTime
from geceval.corpora.ratings import rated_outputs, read_tmu_gfm
from geceval.edits.m2 import read_m2
from geceval.learning.distillation.card import distillation_card
from geceval.learning.distillation.groups import Group, make_groups
from geceval.learning.distillation.job import Job
from geceval.learning.distillation.objective import GAP, Distillation, Rated
from geceval.learning.distillation.rounding import restore_weights
from geceval.learning.distillation.student import make_student, needed_tokens
from geceval.learning.distillation.teacher import Scored, Teacher, read_scores, score_groups, token_rows
from geceval.learning.impara.ranked_pairs import RankedPair, read_rated_pairs
from geceval.learning.impara_lm.head import learn_head
from geceval.learning.network import load_trained, write_network
from geceval.learning.runs import fit_seeds, network_file, train
from geceval.models.causal import CausalModel, QualityHead, save_quality_head, start_of
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.quantised import write_weights
from geceval.models.tokenizers import load_tokenizer


class _Data(NamedTuple):
    """What the teacher said; with ratings, also what chooses the evaluation, and what the head learns from."""

    scored: list[Scored]
    rated: list[Rated]
    pairs: list[RankedPair]


def distill(job: Job, folder: str | Path, scores: str | Path | None = None, progress: bool = False) -> dict[str, Any]:
    """Score texts with the teacher, make a student of it, and teach it; write it with results and card."""
    folder = Path(folder)
    teacher = resolve(job.recipe.base)
    runtime = RunTime(dtype=job.recipe.dtype, progress=progress)
    tokenizer = load_tokenizer(teacher)
    start, _ = start_of(tokenizer, teacher.setting("start_token"), teacher.identity)
    objective = Distillation(tokenizer, start, job.weights, job.bits)

    def read(run: Path) -> _Data:
        groups, facts = read_groups(job), score_facts(job, teacher)
        rated, pairs = [], []
        if job.ratings is not None:
            rated, pairs = rated_groups(job.ratings), read_rated_pairs(job.ratings, gap=job.gap)
        untaught = run / "start"
        if not (untaught / "tokenizer.json").is_file():  # which is written last
            reader = CausalModel.load(teacher, RunTime(device="cpu", dtype="float32"))
            make_student(reader, job.layers, _tokens(job, reader, groups), untaught)
        where = run / "scores" if scores is None else Path(scores)
        score_groups(lambda: Teacher(teacher, runtime, job.top, job.recipe.max_length), groups, facts, where, progress)
        return _Data(list(read_scores(where, len(groups))), rated, pairs)

    def learn(data: _Data, run: Path) -> list[dict[str, Any]]:
        held, rows = hold_apart(data.scored, job.held)
        evaluation = {"held": held, "rated": data.rated} if data.rated else {"held": held}
        recipe = dataclasses.replace(job.recipe, base=str(run / "start"))
        return fit_seeds(objective, job, recipe, rows, evaluation, run, progress)

    def finish(data: _Data, runs: list[dict[str, Any]]) -> dict[str, Any]:
        best = min(runs, key=lambda run: run["selection"])["seed"]
        counts = {"groups": len(data.scored), "texts": sum(len(scored.values) for scored in data.scored)}
        found = write_student(job, objective, network_file(folder / "run", best), folder, runtime, data.pairs)
        return {"data": counts, "runs": runs, "seed": best, **found}

    return train(job, folder, read, learn, finish, distillation_card)


def write_student(
    job: Job, objective: Distillation, trained: Path, folder: Path, runtime: RunTime, pairs: Sequence[RankedPair]
) -> dict[str, dict[str, Any]]:
    """Write what a run has learnt as a checkpoint in 8 or 4 bits."""
    # With rated pairs, q is then what was learnt times a factor, plus a second head; both are learnt from the pairs.
    recipe = dataclasses.replace(job.recipe, base=str(folder / "run" / "start"))
    base = resolve(recipe.base)
    model = objective.network(recipe, base)
    load_trained(model, trained)
    restore_weights(model.network)
    write_network(recipe, base, model.network, folder, {"start_token": objective.start})
    weights = folder / "model.safetensors"
    write_weights(load_file(weights), weights, job.bits)
    scale, head, found = model.scale().item(), QualityHead(job.layers, model.head().detach()), {}
    write_head(folder, scale, head)
    if pairs:
        reader = CausalModel.load(resolve(str(folder)), runtime)
        factor, second, found["head"] = learn_head(reader, pairs, head.layer, job.ridge, runtime, scale)
        write_head(folder, factor * scale, QualityHead(head.layer, factor * head.weight + second.weight))
    return found


def write_head(folder: Path, scale: float, head: QualityHead) -> None:
    """Give the checkpoint in a folder the factor t and the head w, in place of those that it may have."""
    save_quality_head(head, folder)
    config = read_json(folder / "config.json") | {"geceval_scale": scale, "geceval_head_layer": head.layer}
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


def _check_told(name: str, rows: Sequence[Scored | Rated]) -> None:
    if max((np.ptp(row.values) for row in rows), default=0.0) < GAP - 1e-6:
        raise InputError(f"{name}: no two texts of a sentence differ by {GAP} or more, so that nothing can be measured")


def score_facts(job: Job, teacher: Checkpoint) -> dict[str, Any]:
    """What the teacher's scores depend on."""
    return {
        "teacher": teacher.digest,
        "files": [[path.name, file_sha256(path)] for path in (*job.m2, *job.sentences)],
        "errors": job.errors,
        "top": job.top,
        "max_length": job.recipe.max_length,
        "dtype": job.recipe.dtype,
    }


def rated_groups(path: Path) -> list[Rated]:
    """The outputs of each source of TMU-GFM-Dataset with what people think of them."""
    outputs = rated_outputs(read_tmu_gfm(path)).values()
    rated = [Rated(Group(tuple(found)), np.array(list(found.values()))) for found in outputs if len(found) > 1]
    _check_told(str(path), rated)
    return rated


def _tokens(job: Job, teacher: CausalModel, groups: Sequence[Group]) -> list[int]:
    """The tokens that the student keeps: those that the texts have most often."""
    texts = [text for group in groups for text in group.texts]
    counts = Counter(token for row in token_rows(teacher.tokenizer, teacher.start, texts) for token in row)
    special = {teacher.start_token, *teacher.tokenizer.special_tokens_map.values()}
    return needed_tokens(teacher.tokenizer, counts, job.vocabulary, sorted(special))
