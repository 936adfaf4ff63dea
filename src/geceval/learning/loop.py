"""The training loop that every fine-tuning shares, with one seed, and the objectives that it minimises."""

import json
import logging
import pickle
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from datasets import Dataset
from safetensors.torch import save_file
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from geceval.core.errors import InputError
from geceval.core.files import read_json, write_text
from geceval.learning.network import new_network, trained_state
from geceval.learning.recipe import Recipe
from geceval.models.batched_model import pad
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.devices import pick_device
from geceval.models.library_messages import quiet
from geceval.models.loading import position_limit
from geceval.models.tokenizers import load_tokenizer

logger = logging.getLogger("geceval")

_SELECTION = "selection"
_CLOCK = ("_runtime", "_per_second", "_model_preparation_time")


class Collator:
    """Pads the rows of a batch to the longest of them."""

    def __init__(self, padding: int) -> None:
        self.padding = padding

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        """Token ids and their mask, each [rows, tokens]."""
        ids = [row["input_ids"] for row in rows]
        return {"input_ids": pad(ids, self.padding), "attention_mask": pad([[1] * len(row) for row in ids], 0)}


class Objective(ABC):
    """An aim of training: rows, cost and metrics, and the choice of the best epoch."""

    labels: Sequence[str] = ()
    greater_is_better = True
    collator: Any = Collator

    def network(self, recipe: Recipe, base: Checkpoint) -> Any:
        """The new network that `loop.fit` tunes: by default an encoder under a new head."""
        return new_network(recipe, base, self.labels)

    @abstractmethod
    def encode(self, rows: Sequence[Any], tokenizer: Any, max_length: int) -> Dataset:
        """Rows for the collator; the column `length` holds their numbers of tokens."""

    def model(self, network: Any, recipe: Recipe, rows: Sequence[Any]) -> Any:
        """The model that `cost` calls: the network itself, or a wrapper around it."""
        return network

    @abstractmethod
    def cost(self, model: Any, batch: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The loss of a batch, the model's answers, and the expected answers."""

    @abstractmethod
    def metrics(self, answers: Any, expected: Any) -> dict[str, float]:
        """Scores of the answers to one evaluation set, besides the loss."""

    @abstractmethod
    def selection(self, metrics: Mapping[str, float]) -> float:
        """The number that chooses the epoch, from all metrics after it."""


class ObjectiveTrainer(transformers.Trainer):
    """The `Trainer` of an objective; its arguments are those of `fit`."""

    def __init__(
        self, objective: Objective, recipe: Recipe, rows: Any, evaluation: Any, folder: Path, progress: bool = False
    ) -> None:
        base = resolve(recipe.base)
        limit = position_limit(base)
        if limit is not None and recipe.max_length > limit:
            raise InputError(f"max_length is {recipe.max_length}, but the network reads at most {limit} tokens")
        with quiet():
            self.network = objective.network(recipe, base)
        tokenizer = load_tokenizer(base)
        self.objective = objective

        def encode(rows: Any) -> Any:
            if isinstance(rows, Mapping):  # several evaluation sets, by name
                return {name: encode(part) for name, part in rows.items()}
            return objective.encode(rows, tokenizer, recipe.max_length)

        super().__init__(
            train_dataset=encode(rows),
            eval_dataset=encode(evaluation),
            model=objective.model(self.network, recipe, rows),
            args=_arguments(recipe, folder, progress, objective.greater_is_better),
            data_collator=objective.collator(tokenizer.pad_token_id or 0),
            compute_metrics=lambda output: objective.metrics(output.predictions, output.label_ids),
            processing_class=tokenizer,
        )
        self.remove_callback(PrinterCallback)
        if self.pop_callback(ProgressCallback) is not None:
            self.add_callback(_Progress)
        self.add_callback(_WithinEpochs(recipe.evaluations))

    def compute_loss(
        self, model: Any, inputs: Mapping[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The loss of a training step."""
        loss, answers, _ = self.objective.cost(model, inputs)
        return (loss, answers) if return_outputs else loss

    def prediction_step(
        self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The loss, the answers and the expected answers, without gradients."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            return tuple(part.detach() for part in self.objective.cost(model, inputs))

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """The metrics of all evaluation sets, and the number that chooses the epoch."""
        metrics = super().evaluate(eval_dataset, ignore_keys, metric_key_prefix)
        if metric_key_prefix == "eval":  # not one of several evaluation sets
            plain = {name.removeprefix("eval_"): value for name, value in metrics.items()}
            metrics[f"eval_{_SELECTION}"] = self.objective.selection(plain)
        return metrics


class _Progress(ProgressCallback):
    """Bars, and a line for people after each evaluation, in place of all that is logged."""

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        """Print the latest measurements on standard error, beside the bars."""
        measured = [name for name in logs if name == "loss" or name.startswith("eval_")]
        measurements = [
            f"{name.removeprefix('eval_').replace('_', ' ')} {float(logs[name]):.3f}"
            for name in measured
            if not name.endswith((_SELECTION, *_CLOCK))
        ]
        if measurements and self.training_bar is not None:
            self.training_bar.write(f"epoch {float(logs['epoch']):g}: {', '.join(measurements)}", file=sys.stderr)


class _WithinEpochs(transformers.TrainerCallback):
    """Evaluates and saves several times an epoch, at equal distances."""

    def __init__(self, times: int) -> None:
        self.times = times

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for an evaluation within an epoch; at its end there is one anyway."""
        steps = state.max_steps // args.num_train_epochs
        step = state.global_step % steps
        if step and step * self.times // steps > (step - 1) * self.times // steps:
            control.should_evaluate = control.should_save = control.should_log = True


def fit(
    objective: Objective, recipe: Recipe, rows: Any, evaluation: Any, folder: Path, progress: bool = False
) -> dict[str, Any]:
    """Fine-tune with one seed, continuing where an earlier run in the same folder was interrupted."""
    # Under `torchrun` or `accelerate launch` every process takes its share of each epoch.
    done = folder / "history.json"
    if done.is_file():
        return read_json(done)
    trainer = ObjectiveTrainer(objective, recipe, rows, evaluation, folder, progress)
    last = last_whole(folder)
    if last:
        logger.info("seed %d continues from %s", recipe.seed, last)
    try:
        output = trainer.train(resume_from_checkpoint=last)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{last}: cannot go on from there, its files hold more than tensors, which is never unpickled; remove it"
        ) from error
    history = _history(trainer.state.log_history, objective)
    best = best_of(objective, history)
    result = {
        "seed": recipe.seed,
        "epoch": best["epoch"],
        _SELECTION: best[_SELECTION],
        "steps": trainer.state.global_step,
        "seconds": round(output.metrics["train_runtime"], 1),
        "history": history,
    }
    if trainer.is_world_process_zero():
        save_file(trained_state(trainer.network), folder / "network.safetensors")
        write_text(done, json.dumps(result, indent=2))  # at once: it says that the run is finished
        for checkpoint in folder.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)
    trainer.accelerator.wait_for_everyone()
    return result


def best_of(objective: Objective, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The evaluation, or the run of a seed, that is kept."""
    return (max if objective.greater_is_better else min)(entries, key=lambda entry: entry[_SELECTION])


def last_whole(folder: Path) -> str | None:
    """The newest completely written checkpoint below a folder, if there is any."""
    # The Trainer writes `trainer_state.json` last, so a checkpoint in which it is missing or truncated was being
    # written when the run was killed; it is skipped.
    whole = {}
    for state in folder.glob("checkpoint-*/trainer_state.json"):
        try:
            whole[json.loads(state.read_text(encoding="utf-8"))["global_step"]] = state.parent
        except (ValueError, KeyError, TypeError):
            logger.warning("%s: was cut off while it was written, and is passed over", state.parent)
    return str(whole[max(whole)]) if whole else None


def _arguments(recipe: Recipe, folder: Path, progress: bool, greater_is_better: bool) -> transformers.TrainingArguments:
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
        metric_for_best_model=f"eval_{_SELECTION}",
        greater_is_better=greater_is_better,
        logging_strategy="epoch",
        disable_tqdm=not progress,
        report_to="none",
        dataloader_pin_memory=torch.cuda.is_available(),
    )


def _history(log: list[dict[str, float]], objective: Objective) -> list[dict[str, float]]:
    """The metrics of each evaluation, from the log of the Trainer; `epoch` is a whole number at the end of an epoch."""
    evaluations: dict[float, dict[str, float]] = {}
    losses: dict[float, float] = {}
    for entry in log:
        number = round(entry["epoch"], 2)
        number = int(number) if number == int(number) else number
        names = [name for name in entry if name.startswith("eval_") and not name.endswith((_SELECTION, *_CLOCK))]
        evaluations.setdefault(number, {}).update({name.removeprefix("eval_"): entry[name] for name in names})
        if "loss" in entry:
            losses[number] = entry["loss"]
    return [
        {"epoch": number, **scores, "train_loss": losses.get(number), _SELECTION: objective.selection(scores)}
        for number, scores in sorted(evaluations.items())
        if scores
    ]
