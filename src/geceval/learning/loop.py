"""The loop that every fine-tuning shares: one seed, an evaluation and a checkpoint an epoch, the best epoch kept."""

from __future__ import annotations

import json
import logging
import pickle
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from transformers.trainer_callback import PrinterCallback

from geceval.core.errors import InputError
from geceval.core.files import write_text
from geceval.learning.network import new_network
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import Checkpoint, quiet
from geceval.models.encoder import pick_device, position_limit
from geceval.models.tokenizers import load_tokenizer

logger = logging.getLogger("geceval")

SELECTION = "selection"
_CLOCK = ("_runtime", "_per_second", "_model_preparation_time")


class LossTrainer(transformers.Trainer):
    """What trainers have alike, whatever is learnt; a subclass says what a batch costs."""

    def cost(self, model: Any, inputs: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The loss of one batch, what the network answers, and what it should have."""
        raise NotImplementedError

    def compute_loss(
        self, model: Any, inputs: Mapping[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss, for a step of training."""
        loss, answers, _ = self.cost(model, inputs)
        return (loss, answers) if return_outputs else loss

    def prediction_step(
        self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """All of `cost`, without gradients."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            loss, answers, expected = self.cost(model, inputs)
        return loss.detach(), answers.detach(), expected


def finished(folder: Path) -> dict[str, Any] | None:
    """What an earlier, finished run in this folder returned."""
    done = folder / "history.json"
    return json.loads(done.read_text(encoding="utf-8")) if done.is_file() else None


def start(recipe: Recipe, base: Checkpoint, labels: Sequence[str] = ()) -> tuple[Any, Any]:
    """The network to tune and its tokenizer.

    Raises:
        CheckpointError: If the base cannot be used.
        ValueError: If `max_length` is beyond what the network can read.
    """
    limit = position_limit(base.config)
    if limit is not None and recipe.max_length > limit:
        raise InputError(f"max_length is {recipe.max_length}, but the network reads at most {limit} tokens")
    tokenizer = load_tokenizer(base)
    with quiet():
        return new_network(recipe, base, labels), tokenizer


def fit(trainer: transformers.Trainer, network: Any, seed: int, summary: Callable[[dict[str, float]], float]) -> dict:
    """Fine-tune with one seed, continuing where an earlier run in the same folder was cut off.

    Under `torchrun` or `accelerate launch` every process takes its share of each epoch.

    Args:
        trainer: Its `args` are those of `arguments`; its `evaluate` must give `eval_selection`. The folder
            `args.output_dir` holds the checkpoints while it runs; afterwards `network.safetensors` and `history.json`.
        network: What is inside the trainer's model and to be kept.
        seed: Noted in the result.
        summary: From the metrics of one epoch (names without `eval_`) to what chose the epoch.

    Returns:
        `seed`, `epoch` (the best), `selection` (what chose it), `steps`, `seconds`, and `history`: a list with the
        metrics after each epoch.

    Raises:
        ValueError: If the files of the earlier run hold pickled code.
    """
    folder = Path(trainer.args.output_dir)
    trainer.remove_callback(PrinterCallback)
    last = last_whole(folder)
    if last:
        logger.info("seed %d continues from %s", seed, last)
    try:
        output = trainer.train(resume_from_checkpoint=last)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{last}: cannot go on from there, its files hold more than tensors, which is never unpickled; remove it"
        ) from error
    history = _history(trainer.state.log_history, summary)
    best = (max if trainer.args.greater_is_better else min)(history, key=lambda entry: entry[SELECTION])
    result = {
        "seed": seed,
        "epoch": best["epoch"],
        SELECTION: best[SELECTION],
        "steps": trainer.state.global_step,
        "seconds": round(output.metrics["train_runtime"], 1),
        "history": history,
    }
    if trainer.is_world_process_zero():
        save_file({k: v.contiguous() for k, v in network.state_dict().items()}, folder / "network.safetensors")
        write_text(folder / "history.json", json.dumps(result, indent=2))  # at once: it says that the run is finished
        for checkpoint in folder.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)
    trainer.accelerator.wait_for_everyone()
    return result


def last_whole(folder: Path) -> str | None:
    """The newest checkpoint below a folder that was written to its end, if there is any.

    The Trainer writes `trainer_state.json` last, so a checkpoint in which it is missing or cut off was being written
    when the run was killed; it is passed over.
    """
    whole = {}
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        try:
            whole[json.loads(state.read_text(encoding="utf-8"))["global_step"]] = state.parent
        except (ValueError, KeyError, TypeError):
            logger.warning("%s: was cut off while it was written, and is passed over", state.parent)
    return str(whole[max(whole)]) if whole else None


def arguments(recipe: Recipe, folder: Path, progress: bool, greater_is_better: bool) -> transformers.TrainingArguments:
    """The Trainer's arguments for a recipe; rows must have a column `length`."""
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
        metric_for_best_model=f"eval_{SELECTION}",
        greater_is_better=greater_is_better,
        logging_strategy="epoch",
        disable_tqdm=not progress,
        report_to="none",
        dataloader_pin_memory=torch.cuda.is_available(),
    )


def mean_loss(metrics: dict[str, float]) -> float:
    """The mean over the evaluation sets of the metrics whose names end in `_loss`."""
    return float(np.mean([value for name, value in metrics.items() if name.endswith("_loss")]))


def _history(log: list[dict[str, float]], summary: Callable[[dict[str, float]], float]) -> list[dict[str, float]]:
    epochs: dict[int, dict[str, float]] = {}
    losses: dict[int, float] = {}
    for entry in log:
        number = round(entry["epoch"])
        names = [name for name in entry if name.startswith("eval_") and not name.endswith((SELECTION, *_CLOCK))]
        epochs.setdefault(number, {}).update({name.removeprefix("eval_"): entry[name] for name in names})
        if "loss" in entry:
            losses[number] = entry["loss"]
    return [
        {"epoch": number, **epochs[number], "train_loss": losses.get(number), SELECTION: summary(epochs[number])}
        for number in sorted(epochs)
        if epochs[number]
    ]
