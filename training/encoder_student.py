"""What an encoder learns from the teacher of `distill.py`: the student that was measured beside the bundled one.

    python training/distill.py --m2 mine.m2 --output student --scores scores
    python training/encoder_student.py --scores scores --ratings tmu-gfm-dataset.csv --output probes

The encoder learns the teacher's differences of q within groups and their order, from the mean of its token states; and,
as `--losses` says, the teacher's log-probability of each token, and which words of a text differ from the best text of
its group. Prints a Markdown table: held pairs in the teacher's order, and rated pairs in people's, after each
quarter of the pass. Killed and started again with the same arguments, it goes on where it was.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from geceval.core.errors import InputError
from geceval.core.files import read_json
from geceval.core.options import check_choice, check_count
from geceval.edits.ged_labels import changed_words
from geceval.learning.card_parts import table
from geceval.learning.distillation.groups import SHARD
from geceval.learning.distillation.objective import GroupObjective, Rated, group_losses, within_groups
from geceval.learning.distillation.teacher import Scored, read_scores
from geceval.learning.distillation.train import hold_apart, rated_groups
from geceval.learning.impara_lm.objective import PACE
from geceval.learning.network import set_dropout
from geceval.learning.objective import IGNORED, Collator
from geceval.learning.recipe import Recipe
from geceval.learning.runs import claim, fit_seeds
from geceval.learning.scripts import exit_code, script_parser
from geceval.models import loading
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.devices import pick_device
from geceval.models.pooling import mean_pool
from geceval.models.tokenizers import NOTHING_SPECIAL, detokenize, load_tokenizer

SMALLEST = -12.0
"""Log-probabilities below it count as this much."""
LOSSES = ("tokens", "labels")
RECIPE = Recipe(schedule="linear", warmup=0.06, batch_size=8, epochs=1, evaluations=4, max_length=96, dropout=0.0)


class Encoder(torch.nn.Module):
    """An encoder with w for the mean of its token states, and two heads of single tokens."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network, self.config = network, network.config
        self.slow_head = torch.nn.Parameter(torch.zeros(network.config.hidden_size))
        self.tokens = torch.nn.Linear(network.config.hidden_size, len(LOSSES))

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """q of each text, [texts], and what is said of each token, [texts, tokens, 2]."""
        states = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state.float()
        return mean_pool(states, attention_mask) @ (PACE * self.slow_head), self.tokens(states)


class GroupCollator:
    """Makes one batch of the texts of several groups; its argument is the token to pad with."""

    def __init__(self, padding: int) -> None:
        self.texts = Collator(padding)

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Of all texts, `input_ids` and `attention_mask` [texts, tokens], and where there are targets `tokens` and
        `labels` of the same shape; `values` [texts]; `taught` [groups]: whether these are the teacher's; see
        `within_groups` for `tree_of` and `pairs`."""
        batch = self.texts([{"input_ids": ids} for row in rows for ids in row["texts"]])
        for name in [name for name in LOSSES if name in rows[0]]:
            found = [torch.tensor(values) for row in rows for values in row[name]]
            batch[name] = torch.nn.utils.rnn.pad_sequence(found, True, IGNORED)
        tree_of, pairs = within_groups([len(row["texts"]) for row in rows])
        values = torch.from_numpy(np.concatenate([row["values"] for row in rows])).float()
        taught = torch.tensor([row["taught"] for row in rows])
        return batch | {"tree_of": tree_of, "pairs": pairs, "values": values, "taught": taught}


class EncoderDistillation(GroupObjective):
    """Minimises the losses of differences and order, and those that are named.

    Args:
        teacher: The teacher's tokenizer.
        losses: Of `LOSSES`.
    """

    collator = GroupCollator

    def __init__(self, teacher: Any, losses: Sequence[str]) -> None:
        self.teacher, self.losses = teacher, losses

    def network(self, recipe: Recipe, base: Checkpoint) -> Encoder:
        """The encoder in float32, all of whose weights learn."""
        network = loading.load_encoder(base).requires_grad_(True)
        set_dropout(network, recipe.dropout)
        if pick_device("auto").type == "cpu":
            network.set_attn_implementation("eager")  # several times faster backward
        transformers.set_seed(recipe.seed)
        return Encoder(network)

    def encode(self, rows: Sequence[Scored | Rated], tokenizer: Any, max_length: int) -> list[dict[str, Any]]:
        """Token ids of texts, values, and of scored groups what the losses read of tokens."""
        return [self._encode(row, tokenizer, max_length) for row in rows]

    def _encode(self, row: Scored | Rated, tokenizer: Any, max_length: int) -> dict[str, Any]:
        texts = [text.split() for text in row.group.texts]
        found = tokenizer(texts, is_split_into_words=True, truncation=True, max_length=max_length)
        encoded = {
            "input_ids": max(found["input_ids"], key=len),  # by whose length rows are put together
            "texts": found["input_ids"],
            "values": row.values,
            "taught": isinstance(row, Scored),
        }
        if isinstance(row, Scored) and "tokens" in self.losses:
            places = [_ends(encoding, words) for encoding, words in zip(found.encodings, texts, strict=True)]
            nodes = [row.log_probs[path][1:] for path in row.tree.paths()]  # without the token that starts a text
            rows = zip(row.group.texts, nodes, places, strict=True)
            encoded["tokens"] = [self._log_probs(*each) for each in rows]
        if isinstance(row, Scored) and "labels" in self.losses:
            best = texts[int(np.argmax(row.values))]
            encoded["labels"] = [_labels(e, words, best) for e, words in zip(found.encodings, texts, strict=True)]
        return encoded

    def _log_probs(self, text: str, log_probs: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The sum of the teacher's log-probabilities of the tokens that end within each token of the encoder."""
        prose = detokenize(text)
        offsets = self.teacher(prose, **NOTHING_SPECIAL, return_offsets_mapping=True)["offset_mapping"]
        letters = np.cumsum([not letter.isspace() for letter in prose])
        targets = np.full(len(ends), float(IGNORED), np.float32)
        inside = np.flatnonzero(ends > 0)
        if not len(inside) or letters[-1] < ends.max():  # words were changed, not only spaces
            return targets
        where = np.searchsorted(ends[inside], [letters[end - 1] for _, end in offsets])
        sums, kept = np.zeros(len(inside) + 1, np.float32), where < len(inside)
        np.add.at(sums, where, log_probs.astype(np.float32))
        reached = np.unique(where[kept])
        targets[inside[reached]] = sums[reached].clip(SMALLEST)
        return targets

    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The sum of the losses; differences of q within each group, the student's and the expected ones."""
        quality, said = model(batch["input_ids"], batch["attention_mask"])
        losses, found, wanted = group_losses(quality, batch, len(batch["taught"]))
        if not batch["taught"].all():
            return losses.order, found, wanted
        loss = losses.differences + losses.order
        if "tokens" in self.losses:
            known = batch["tokens"] != IGNORED
            loss = loss + torch.nn.functional.smooth_l1_loss(said[..., 0][known], batch["tokens"][known])
        if "labels" in self.losses:
            known = batch["labels"] != IGNORED
            wrong = batch["labels"][known].float()
            loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(said[..., 1][known], wrong)
        return loss, found, wanted


def _ends(encoding: Any, words: Sequence[str]) -> np.ndarray:
    """How many letters of a text a token and all before it have; 0 for special tokens."""
    before = np.cumsum([0, *map(len, words)])
    return np.array(
        [
            0 if word is None else before[word] + end
            for word, (_, end) in zip(encoding.word_ids, encoding.offsets, strict=True)
        ]
    )


def _labels(encoding: Any, words: Sequence[str], best: Sequence[str]) -> list[int]:
    """1 for tokens of words that the best text does not have in this place, 0 for others."""
    wrong = changed_words(words, best)
    return [IGNORED if word is None else int(word in wrong) for word in encoding.word_ids]


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a run depends on.

    Attributes:
        scores: What the teacher's scores depend on, as `distill.py` wrote it beside them.
        ratings: TMU-GFM-Dataset.
        shards: How many of the first shards are read.
        held: Groups that are kept apart to measure agreement with the teacher.
        losses: Of `LOSSES`.
        recipe: How to learn; its base is the encoder.
        seeds: One.
    """

    scores: Mapping[str, Any]
    ratings: Path
    shards: int
    held: int
    losses: tuple[str, ...]
    recipe: Recipe
    seeds: tuple[int, ...]


def jobs_from(options: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """The losses as they were named and the job, of each run.

    Raises:
        InputError: If there are no such losses or shards, or the scores are those of another teacher.
    """
    scores = read_json(options.scores / "settings.json")
    if scores["teacher"] != resolve(options.teacher).digest:
        raise InputError(f"{options.scores}: not the scores of {options.teacher}; name their teacher (--teacher)")
    check_count("held", options.held)
    recipe = dataclasses.replace(RECIPE, base=options.init_from, learning_rate=options.lr, seed=options.seed)
    for name in options.losses:
        losses = () if name == "none" else tuple(name.split("+"))
        for loss in losses:
            check_choice("losses", loss, LOSSES)
        for shards in options.shards:
            check_count("shards", shards)
            yield name, Job(scores, options.ratings, shards, options.held, losses, recipe, (options.seed,))


def probe(options: argparse.Namespace) -> str:
    """Train a student for each set of losses and number of shards, and make the table."""
    tokenizer = load_tokenizer(resolve(options.teacher))
    jobs, rated = list(jobs_from(options)), rated_groups(options.ratings)
    table_rows = []
    for name, job in jobs:
        folder = options.output / f"{name}-{job.shards}-{options.lr}-{options.seed}" / "run"
        scored = list(read_scores(options.scores, job.shards * SHARD))
        held, rows = hold_apart(scored, job.held)
        claim(job, folder)
        objective, evaluation = EncoderDistillation(tokenizer, job.losses), {"held": held, "rated": rated}
        (run,) = fit_seeds(objective, job, job.recipe, rows, evaluation, folder, True)
        texts = sum(len(row.values) for row in scored)
        print(json.dumps({"losses": name, "texts": texts, **run}), flush=True)
        for kind in ("held", "rated"):
            cells = [f"{entry[f'{kind}_accuracy']:.3f}" for entry in run["history"]]
            table_rows.append([name, texts, kind, *cells])
    return table(("further losses", "texts", "pairs", "1/4", "1/2", "3/4", "all"), table_rows)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, train and print; the exit code."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--scores", type=Path, required=True, help="folder of the teacher's scores, which distill.py has written")
    add("--ratings", type=Path, required=True, help="TMU-GFM-Dataset")
    add("--output", type=Path, required=True, help="folder of all runs")
    add("--shards", type=int, nargs="+", default=[7, 25], help="how many of the first shards are read, a run each")
    add("--held", type=int, default=SHARD, help="groups that are kept apart to measure agreement with the teacher")
    add(
        "--losses",
        nargs="+",
        default=["none", "tokens", "tokens+labels"],
        help="a run each: none, tokens, labels or tokens+labels",
    )
    add("--init-from", default="bundled:ged_encoder", help="the encoder")
    add("--teacher", default="smollm2-impara", help="whose scores they are")
    add("--lr", type=float, default=2e-4, help="learning rate")
    add("--seed", type=int, default=1, help="of the order of the data")
    options = parser.parse_args(arguments)
    return exit_code("encoder_student", lambda: print(probe(options)))


if __name__ == "__main__":
    sys.exit(main())
