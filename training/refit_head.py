"""Refit the quality head of a student of IMPARA-LM, on states that stay as they are.

    python training/refit_head.py STUDENT --m2 mine.m2 --ratings tmu-gfm-dataset.csv --gmeg GMEG --output harder

It keeps its own differences between versions of a sentence, learns what people prefer, and what texts are worth that
were made to please it. Then `evaluate_checkpoint.py`.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from geceval.core.options import RunTime
from geceval.corpora import gmeg
from geceval.corpora.ratings import rated_outputs, read_tmu_gfm
from geceval.learning.impara_lm import RATED_GAP
from geceval.learning.runs import read_results, write_results
from geceval.models.causal import CausalModel, QualityHead
from geceval.models.checkpoints import resolve
from geceval.text.tokenisers import detokenise
from recipes.distillation.objective import CLIP, GAP
from recipes.distillation.run import Job, distillation_card, read_groups, write_head
from recipes.hardening import MARGIN, SOFTNESS, WEIGHTS, add_negatives
from recipes.scripts import exit_code, script_parser

GROUPS = 2500  # of versions of a sentence, whose differences are kept
HELD = 256  # further ones, which measure whether they are
NEGATIVES = 1200  # sentences of these from which negatives are made
RIDGE = 0.3  # penalty of the change, in units of the states' deviations
PARTS = 5

Group = dict[str, float]  # texts of one sentence and what people say of them


@dataclass(frozen=True, slots=True)
class Pairs:
    """Differences of states [pairs, dimensions] and of values [pairs]."""

    states: torch.Tensor
    values: torch.Tensor


class States:
    """Mean token states of texts, read once."""

    def __init__(self, model: CausalModel, runtime: RunTime) -> None:
        self.model, self.runtime = model, runtime
        self.rows: dict[str, np.ndarray] = {}

    def read(self, texts: Sequence[str]) -> None:
        """Read those that are new."""
        new = list(dict.fromkeys(text for text in texts if text not in self.rows))
        rows = self.model.mean_states([detokenise(text) for text in new], self.model.head.layer, self.runtime)
        self.rows |= dict(zip(new, rows, strict=True))

    def pairs(self, groups: Sequence[Group], gap: float = 0.0) -> Pairs:
        """Pairs of each group whose values differ by at least `gap`."""
        kept = [
            (self.rows[left] - self.rows[right], group[left] - group[right])
            for group in groups
            for left, right in itertools.combinations(group, 2)
            if abs(group[left] - group[right]) >= gap - 1e-9
        ]
        states, values = zip(*kept, strict=True)
        return Pairs(torch.from_numpy(np.stack(states)).double(), torch.tensor(values).double())


def refit(head: torch.Tensor, kept: Sequence[Pairs], rated: Sequence[Pairs], negatives: Pairs) -> torch.Tensor:
    """The head with the least cost: smooth L1 to its own differences, softplus of people's order, and negatives."""
    deviation = torch.cat([pairs.states for pairs in kept]).std(0) + 1e-9
    change = torch.zeros_like(head, requires_grad=True)
    optimizer = torch.optim.LBFGS([change], max_iter=100, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        weights = head + change / deviation
        value = RIDGE * change.square().sum()
        for pairs in kept:
            own = pairs.values.clamp(-CLIP, CLIP)
            value = value + torch.nn.functional.smooth_l1_loss(pairs.states @ weights, own)
        for pairs in rated:
            margins = (pairs.states @ weights) * pairs.values.sign()
            value = value + torch.nn.functional.softplus(-margins).mean()
        leads = negatives.states @ weights
        value = value + torch.nn.functional.softplus((MARGIN - leads) / SOFTNESS).mean() * SOFTNESS
        value.backward()
        return value

    optimizer.step(cost)
    return (head + change / deviation).detach()


def accuracy(head: torch.Tensor, pairs: Pairs) -> float:
    """Share of pairs in the order of their values."""
    return ((pairs.states @ head) * pairs.values > 0).double().mean().item()


def folds(groups: Sequence[Group]) -> list[tuple[list[Group], list[Group]]]:
    """What is learnt from and what is measured, five times."""
    order = list(groups)
    random.Random(1).shuffle(order)
    return [
        ([group for i, group in enumerate(order) if i % PARTS != part], order[part::PARTS]) for part in range(PARTS)
    ]


def rated_groups(ratings: Path, folder: Path) -> dict[str, tuple[list[Group], float]]:
    """The rated outputs of TMU-GFM and of both domains of GMEG, and from which difference on they are compared."""
    sets = {"TMU-GFM": (list(rated_outputs(read_tmu_gfm(ratings)).values()), RATED_GAP)}
    for domain in gmeg.DOMAINS:
        rows = gmeg.read_domain(folder, domain)
        groups = [
            {output["text"]: output["rating"] for output in row["hypotheses"] if output["rating"] is not None}
            for row in rows
        ]
        sets[f"GMEG {domain}"] = (groups, gmeg.GAP)
    return {name: ([_not_empty(group) for group in groups], gap) for name, (groups, gap) in sets.items()}


def _not_empty(group: Group) -> Group:
    return {text: value for text, value in group.items() if text.split()}


def harden(checkpoint: Path, job: Job, folder: Path, output: Path, runtime: RunTime) -> dict[str, Any]:
    """Write the student with its new head, with card and results."""
    model = CausalModel.load(resolve(str(checkpoint)))
    before, states = model.head.weight.double(), States(model, runtime)
    sets = rated_groups(job.ratings, folder)
    rated_texts = {text for groups, _ in sets.values() for group in groups for text in group}
    versions = [group.texts for group in read_groups(job) if group.texts[0] not in rated_texts][: HELD + GROUPS]
    rated = [tuple(group) for groups, _ in sets.values() for group in groups if group]
    made = add_negatives(versions[HELD : HELD + NEGATIVES], 3) + add_negatives(rated, 1)
    states.read([text for group in (*versions, *rated) for text in group])
    states.read([text for row in made for text in row.negatives])

    def own(groups: Sequence[Sequence[str]]) -> list[Group]:
        return [{text: float(states.rows[text] @ before.numpy()) for text in group} for group in groups]

    negatives = states.pairs(
        [{row.texts[i]: 1.0, text: 0.0} for row in made for i, text in zip(row.of, row.negatives, strict=True)]
    )
    held, kept = states.pairs(own(versions[:HELD]), GAP), states.pairs(own(versions[HELD:]))
    kinds = {name: states.pairs(groups, gap) for name, (groups, gap) in sets.items()}
    parts = {name: folds(groups) for name, (groups, _) in sets.items()}
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in sets}
    for part in range(PARTS):
        learnt = {name: parts[name][part][0] for name in sets}
        own_pairs = [kept, *(states.pairs(own(groups)) for groups in learnt.values())]
        people = [states.pairs(groups, sets[name][1]) for name, groups in learnt.items()]
        head = refit(before, own_pairs, people, negatives)
        for name in sets:
            test = states.pairs(parts[name][part][1], sets[name][1])
            measured[name].append((accuracy(before, test), accuracy(head, test)))
    own_pairs = [kept, *(states.pairs(own(groups)) for groups, _ in sets.values())]
    head = refit(before, own_pairs, list(kinds.values()), negatives)
    shutil.copytree(checkpoint, output)
    write_head(output, QualityHead(model.head.layer, head.float()))
    results = read_results(checkpoint)
    results["hardened"] = {
        "groups": GROUPS,
        "negatives": len(negatives.values),
        "kinds": list(WEIGHTS),
        "ridge": RIDGE,
        "accuracy": {name: np.mean(pairs, axis=0).tolist() for name, pairs in measured.items()},
        "negatives_above": [1 - accuracy(each, negatives) for each in (before, head)],
        "held": accuracy(head, held),
    }
    write_results(output, results, distillation_card)
    return results["hardened"]


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and fit; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("checkpoint", type=Path, help="student with its results.json")
    parser.add_argument("--m2", type=Path, nargs="+", required=True, help="M2 files that it was made from")
    parser.add_argument("--sentences", type=Path, nargs="*", default=[], help="texts that it was made from")
    parser.add_argument("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    parser.add_argument("--gmeg", type=Path, required=True, help="folder of GMEG")
    parser.add_argument("--output", type=Path, required=True, help="new folder")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    options = parser.parse_args(arguments)

    def run() -> None:
        job = Job(m2=tuple(options.m2), sentences=tuple(options.sentences), ratings=options.ratings)
        runtime = RunTime(dtype=options.dtype)
        print(json.dumps(harden(options.checkpoint, job, options.gmeg, options.output, runtime)))

    return exit_code("refit_head", run)


if __name__ == "__main__":
    sys.exit(main())
