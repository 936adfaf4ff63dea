"""A finished quality estimator learns on: texts made to please it are worth less than those they were made of.

It keeps its own differences between versions of a sentence, so that its agreement with people stays, and pays for each
negative that is not worth at least `MARGIN` less than the text that it was made of.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from geceval.core.errors import InputError
from geceval.models.quantised import read_weights
from recipes.distillation.objective import within_groups
from recipes.negatives import Corpus, make

MARGIN = 0.5  # in log-odds
SOFTNESS = 0.25  # of the hinge
# Kinds that a reader of the output alone can know: a flip of the meaning or a missing clause reads well.
WEIGHTS = {
    "filler_before": 2.0,
    "filler_after": 1.5,
    "commas_added": 2.0,
    "doubled": 1.2,
    "words_repeated": 1.0,
    "phrase_added": 1.0,
    "sentence_added": 1.0,
    "tail_cut": 1.0,
    "head_cut": 0.5,
    "any_dropped": 0.5,
    "span_dropped": 0.5,
}


@dataclass(frozen=True, slots=True)
class Hardening:
    """Versions of one sentence with the estimator's own values, and negatives with the index of what each is of."""

    texts: tuple[str, ...]
    negatives: tuple[str, ...]
    of: tuple[int, ...]
    values: np.ndarray | None = None


def load_adapter(network: Any, weights: Path) -> Any:
    """A new network with an adapter as it was left, ready to learn on."""
    from peft import set_peft_model_state_dict

    report = set_peft_model_state_dict(network, read_weights(weights))
    if report.unexpected_keys:
        raise InputError(f"{weights}: there is no {report.unexpected_keys[0]} in a new network")
    return network


def add_negatives(groups: Sequence[Sequence[str]], count: int, seed: int = 1) -> list[Hardening]:
    """Groups with at most `count` negatives each, of different kinds, made of any version."""
    rng = random.Random(seed)
    corpus = Corpus(group[0] for group in groups)
    rows = []
    for texts in groups:
        of, made = [], []
        for kind in _kinds(rng, count):
            index = rng.randrange(len(texts))
            negative = make(kind, texts[index], corpus, rng)
            if negative is not None:
                of.append(index)
                made.append(negative)
        rows.append(Hardening(tuple(texts), tuple(made), tuple(of)))
    return rows


def _kinds(rng: random.Random, count: int) -> list[str]:
    """Different kinds, drawn by their weights."""
    left, drawn = dict(WEIGHTS), []
    while left and len(drawn) < count:
        drawn.append(rng.choices(list(left), left.values())[0])
        del left[drawn[-1]]
    return drawn


def losses(quality: torch.Tensor, rows: Sequence[Hardening]) -> tuple[torch.Tensor, torch.Tensor]:
    """Distance of the differences within groups to what they were, and the cost of negatives, from q of all texts."""
    # `quality`: of each row's texts, then of its negatives, row by row: [texts].
    starts = np.cumsum([0, *(len(row.texts) + len(row.negatives) for row in rows)])
    kept = torch.tensor([start + i for start, row in zip(starts, rows, strict=False) for i in range(len(row.texts))])
    _, (left, right) = within_groups([len(row.texts) for row in rows])
    own = torch.from_numpy(np.concatenate([row.values for row in rows]).astype(np.float32))
    margins = quality[kept[left]] - quality[kept[right]]
    anchor = torch.nn.functional.smooth_l1_loss(margins, own[left] - own[right])
    bad = [start + len(row.texts) + i for start, row in zip(starts, rows, strict=False) for i in range(len(row.of))]
    good = [start + index for start, row in zip(starts, rows, strict=False) for index in row.of]
    lead = quality[torch.tensor(good)] - quality[torch.tensor(bad)]
    return anchor, torch.nn.functional.softplus((MARGIN - lead) / SOFTNESS).mean() * SOFTNESS


def learn(
    quality: Callable[[Sequence[str]], torch.Tensor],
    parameters: Sequence[torch.nn.Parameter],
    rows: Sequence[Hardening],
    learning_rate: float,
    batch: int,
    seed: int = 1,
) -> Iterator[dict[str, float]]:
    """One pass over the rows with AdamW, the learning rate falling to 0; yields the mean losses of each 10 steps."""
    rng = random.Random(seed)
    order = list(rows)
    rng.shuffle(order)
    steps = len(order) // batch
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / max(1, 0.06 * steps), 1 - step / steps)
    )
    sums: list[Any] = []
    for step in range(steps):
        chosen = order[step * batch : (step + 1) * batch]
        values = quality([text for row in chosen for text in (*row.texts, *row.negatives)])
        anchor, negatives = losses(values, chosen)
        optimizer.zero_grad()
        (anchor + negatives).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        sums.append((anchor.item(), negatives.item()))
        if step % 10 == 9:
            yield {"step": step + 1, **dict(zip(("anchor", "negatives"), np.mean(sums[-10:], axis=0), strict=True))}
