"""Fine-tuning of IMPARA's quality estimator on ranked pairs (Maeda et al. 2022, section 2.2, Eq. 4).

The loss of a pair is sigmoid(q(S-) - q(S+)): the sigmoid itself, not its logarithm, so that a pair that cannot be
learnt pulls less and less. 0.5 is chance and 0 perfect.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from datasets import Dataset
from safetensors.torch import save_file
from transformers.trainer_callback import PrinterCallback

from geceval.models import heads
from geceval.models.checkpoints import load_tokenizer, quiet, resolve
from geceval.models.encoder import pick_device, position_limit
from geceval.models.impact import RankedPair
from geceval.models.quality import Recipe, head_pooling, new_network

logger = logging.getLogger("geceval")


class PairModel(torch.nn.Module):
    """A sequence classifier with one output, seen through pairs of texts."""

    def __init__(self, network: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.pooling = network, pooling

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The margins q(S+) - q(S-): [pairs, 2, tokens] to [pairs]."""
        batch = {"input_ids": input_ids.flatten(0, 1), "attention_mask": attention_mask.flatten(0, 1)}
        scores = heads.logits(self.network, batch, self.pooling).float().view(-1, 2)
        return scores[:, 1] - scores[:, 0]


class RankingTrainer(transformers.Trainer):
    """Minimises the pairwise loss; the best epoch is the one with the lowest mean loss over the evaluation sets."""

    def compute_loss(
        self, model: Any, inputs: Mapping[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Eq. 4 over one batch."""
        margins = model(**inputs)
        loss = torch.sigmoid(-margins).mean()
        return (loss, margins) if return_outputs else loss

    def prediction_step(
        self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Loss, margins, and ones in place of labels, since the second text of a pair is always the better."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            loss, margins = self.compute_loss(model, inputs, return_outputs=True)
        return loss.detach(), margins.detach(), torch.ones_like(margins)

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """Loss and accuracy on each evaluation set, and `eval_selection`, the mean loss over them."""
        metrics = super().evaluate(eval_dataset, ignore_keys, metric_key_prefix)
        losses = [value for name, value in metrics.items() if name.endswith("_loss")]
        if metric_key_prefix == "eval" and losses:
            metrics["eval_selection"] = float(np.mean(losses))
        return metrics


def pair_metrics(prediction: Any) -> dict[str, float]:
    """Pair accuracy from margins; an equal pair counts as wrong."""
    return {"accuracy": float((np.asarray(prediction.predictions) > 0).mean())}


class PairCollator:
    """Pads the texts of a batch to the longest: lists of token ids to [pairs, 2, tokens]."""

    def __init__(self, padding: int) -> None:
        self.padding = padding

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids and mask of both texts of each row."""
        texts = [torch.tensor(row[side]) for row in rows for side in ("low", "high")]
        ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=self.padding)
        lengths = torch.tensor([len(text) for text in texts])
        mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        return {"input_ids": ids.view(len(rows), 2, -1), "attention_mask": mask.view(len(rows), 2, -1)}


def encode_pairs(pairs: Sequence[RankedPair], tokenizer: Any, max_length: int) -> Dataset:
    """Token ids of both texts; a pair whose texts are equal to the network (cut, upper case) is dropped."""

    def ids(texts: list[str]) -> list[list[int]]:
        return tokenizer(texts, truncation=True, max_length=max_length)["input_ids"] if texts else []

    sides = zip(ids([pair.low for pair in pairs]), ids([pair.high for pair in pairs]), strict=True)
    rows = [{"low": low, "high": high, "length": max(len(low), len(high))} for low, high in sides if low != high]
    if len(rows) < len(pairs):
        logger.info("%d of %d pairs look equal to the network and were dropped", len(pairs) - len(rows), len(pairs))
    if not rows:
        raise ValueError("there is no pair of texts that the network can tell apart; give it more sentences")
    return Dataset.from_list(rows)


def train(
    recipe: Recipe,
    pairs: Sequence[RankedPair],
    evaluation: Mapping[str, Sequence[RankedPair]],
    folder: Path,
    progress: bool = True,
) -> dict[str, Any]:
    """Fine-tune with one seed, continuing where an earlier run in the same folder was cut off.

    Under `torchrun` or `accelerate launch` every process takes its share of each epoch.

    Args:
        recipe: How.
        pairs: What to learn from.
        evaluation: Name to pairs; their mean loss chooses the epoch.
        folder: Holds the checkpoints while it runs; afterwards `network.safetensors` and `history.json`.
        progress: Show a bar on standard error.

    Returns:
        `seed`, `epoch` (the best), `selection` (its mean loss), `steps`, `seconds`, and `history`: a list with the
        loss and accuracy on every evaluation set after each epoch.

    Raises:
        CheckpointError: If the base cannot be used.
        ValueError: If there are no usable pairs, or `max_length` is beyond what the network can read.
    """
    done = folder / "history.json"
    if done.is_file():
        return json.loads(done.read_text(encoding="utf-8"))
    base = resolve(recipe.base)
    limit = position_limit(base.config)
    if limit is not None and recipe.max_length > limit:
        raise ValueError(f"max_length is {recipe.max_length}, but the network reads at most {limit} tokens")
    tokenizer = load_tokenizer(base)
    with quiet():
        network = new_network(recipe, base)
    model = PairModel(network, head_pooling(recipe, network.config))
    trainer = RankingTrainer(
        model=model,
        args=_arguments(recipe, folder, progress),
        data_collator=PairCollator(tokenizer.pad_token_id or 0),
        train_dataset=encode_pairs(pairs, tokenizer, recipe.max_length),
        eval_dataset={name: encode_pairs(some, tokenizer, recipe.max_length) for name, some in evaluation.items()},
        compute_metrics=pair_metrics,
        processing_class=tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    last = transformers.trainer_utils.get_last_checkpoint(str(folder)) if folder.is_dir() else None
    if last:
        logger.info("seed %d continues from %s", recipe.seed, last)
    output = trainer.train(resume_from_checkpoint=last)
    result = _history(trainer, recipe.seed, output.metrics["train_runtime"])
    if trainer.is_world_process_zero():
        save_file({k: v.contiguous() for k, v in network.state_dict().items()}, folder / "network.safetensors")
        done.write_text(json.dumps(result, indent=2), encoding="utf-8")
        for checkpoint in folder.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)
    trainer.accelerator.wait_for_everyone()
    return result


def _arguments(recipe: Recipe, folder: Path, progress: bool) -> transformers.TrainingArguments:
    return transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=recipe.batch_size,
        per_device_eval_batch_size=2 * recipe.batch_size,
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule if recipe.schedule == "linear" else "constant_with_warmup",
        warmup_steps=recipe.warmup,
        weight_decay=0.0,
        bf16=recipe.dtype == "bfloat16",
        use_cpu=pick_device("auto").type == "cpu",
        seed=recipe.seed,
        train_sampling_strategy="group_by_length",
        length_column_name="length",
        remove_unused_columns=False,
        label_names=[],
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_selection",
        greater_is_better=False,
        logging_strategy="epoch",
        disable_tqdm=not progress,
        report_to="none",
        dataloader_pin_memory=torch.cuda.is_available(),
    )


def _history(trainer: RankingTrainer, seed: int, seconds: float) -> dict[str, Any]:
    epochs: dict[int, dict[str, float]] = {}
    for entry in trainer.state.log_history:
        kept = {k.removeprefix("eval_"): v for k, v in entry.items() if k.endswith(("_loss", "_accuracy"))}
        kept.pop("train_loss", None)  # the mean over the whole run
        if "loss" in entry:
            kept["train_loss"] = entry["loss"]
        epochs.setdefault(round(entry["epoch"]), {}).update(kept)
    history = [{"epoch": number, **epochs[number]} for number in sorted(epochs) if "dev_loss" in epochs[number]]
    for entry in history:
        losses = [value for name, value in entry.items() if name.endswith("_loss") and name != "train_loss"]
        entry["selection"] = float(np.mean(losses))
    best = min(history, key=lambda entry: entry["selection"])
    return {
        "seed": seed,
        "epoch": best["epoch"],
        "selection": best["selection"],
        "steps": trainer.state.global_step,
        "seconds": round(seconds, 1),
        "history": history,
    }
