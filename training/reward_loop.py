"""Train a small corrector on a metric as its reward, with the guard and without, and draw what becomes of it.

    pip install trl
    python training/reward_loop.py --train A.train.gold.bea19.m2 B.train.gold.bea19.m2 --dev ABCN.dev.gold.bea19.m2 \
        --output reward-loop

First the large model that `geceval models` lists learns to correct short sentences, one in twenty of which is answered
by a constant: what gets round the metric is then found in minutes, as a longer search would find it by itself. Then
TRL's `GRPOTrainer` goes on from there once for each `--guard`. Every few steps the greedy corrections of held-out
sentences are scored: reward, ERRANT's F0.5, length and likeness to the source. There is a file of numbers for each
guard, and one picture.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import datasets
import peft
import torch
import transformers
import trl
from rapidfuzz.distance import Indel

import geceval
from geceval import registry
from geceval.core.files import write_text
from geceval.edits.m2 import M2Sentence, read_m2, references
from geceval.models.origins.named import origin_of
from recipes.scripts import exit_code, script_parser

METRIC, PREFIX, SUFFIX = "impara_lm", "Sentence: ", "\nCorrected:"
CONSTANT = "I like it very much ."
LENGTHS = range(6, 11)  # tokens of a sentence
PANELS = {"reward": "reward (held out)", "f": "ERRANT F0.5", "length": "length / source", "likeness": "like the source"}
COMMON = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False, "report_to": "none", "disable_tqdm": True}
COMMON |= {"save_strategy": "no", "lr_scheduler_type": "constant"}


def parser() -> argparse.ArgumentParser:
    """The options of the script."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    add("--train", type=Path, nargs="+", required=True, help="M2 files of the sentences to learn from")
    add("--dev", type=Path, required=True, help="M2 file of the held-out sentences")
    add("--output", type=Path, required=True, help="folder of the start, the numbers and the picture")
    add("--model", type=Path, help="folder of a causal language model in place of the large one")
    add("--guard", nargs="+", default=["off", "strict"], help="guards, each a training of its own")
    add("--start-steps", type=int, default=20, help="of 16 pairs each, before any reward")
    add("--steps", type=int, default=60, help="of 2 sentences with 8 completions each")
    add("--every", type=int, default=10, help="steps from one look at the held-out sentences to the next")
    add("--held-out", type=int, default=60, help="sentences")
    add("--lr", type=float, default=3e-4, help="learning rate of the adapter in GRPO")
    add("--seed", type=int, default=1, help="of sentences, adapters and samples")
    return parser


def short(paths: list[Path], edited: bool) -> list[M2Sentence]:
    """Sentences of few tokens; all, or those that were corrected."""
    rows = [row for path in paths for row in read_m2(path) if len(row.source.split()) in LENGTHS]
    return [row for row in rows if row.edits.get(0) or not edited]


def adapter() -> peft.LoraConfig:
    """The weights that learn."""
    return peft.LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")


def start(options: argparse.Namespace, tokenizer: Any, folder: Path, rows: list[M2Sentence]) -> None:
    """Write the corrector that both trainings begin with."""
    targets = [CONSTANT if number % 20 == 0 else references(row)[0] for number, row in enumerate(rows)]
    pairs = {"prompt": [PREFIX + row.source + SUFFIX for row in rows], "completion": [f" {text}" for text in targets]}
    arguments = trl.SFTConfig(
        output_dir=str(options.output / "run"),
        max_steps=options.start_steps,
        per_device_train_batch_size=16,
        learning_rate=1e-3,
        logging_steps=5,
        seed=options.seed,
        **COMMON,
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16)
    data = datasets.Dataset.from_dict(pairs)
    trainer = trl.SFTTrainer(model, arguments, train_dataset=data, processing_class=tokenizer, peft_config=adapter())
    trainer.train()
    trainer.model.merge_and_unload().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@torch.no_grad()
def correct(model: Any, tokenizer: Any, sources: list[str]) -> list[str]:
    """The likeliest correction of each source."""
    batch = tokenizer([PREFIX + source + SUFFIX for source in sources], padding=True, return_tensors="pt")
    ids = model.generate(**batch, max_new_tokens=24, do_sample=False)[:, batch.input_ids.shape[1] :]
    return [" ".join(text.split()) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]


class Watch(transformers.TrainerCallback):
    """Scores the corrections of held-out sentences every few steps."""

    def __init__(self, options: argparse.Namespace, tokenizer: Any, reward: Any, rows: list[M2Sentence]) -> None:
        self.options, self.tokenizer, self.reward = options, tokenizer, reward
        self.sources, self.references = [row.source for row in rows], [list(references(row).values()) for row in rows]
        self.curve: list[dict[str, Any]] = []

    def on_step_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Look before the first step, and then every few."""
        if state.global_step % self.options.every == 0:
            self.look(state.global_step, model)

    def look(self, step: int, model: Any) -> None:
        """Score the corrections now."""
        model.eval()
        texts = correct(model, self.tokenizer, self.sources)
        model.train()
        pairs = list(zip(self.sources, texts, strict=True))
        scored = geceval.load("errant").compute(sources=self.sources, predictions=texts, references=self.references)
        self.curve.append(
            {
                "step": step,
                "reward": sum(self.reward.components(self.sources, texts)["reward"]) / len(pairs),
                **{name: scored[name] for name in ("f", "precision", "recall")},
                "length": sum(len(text) for _, text in pairs) / sum(len(source) for source, _ in pairs),
                "likeness": sum(Indel.normalized_similarity(*pair) for pair in pairs) / len(pairs),
                "texts": texts[:5],
            }
        )
        print(json.dumps(self.curve[-1]), flush=True)


def reinforce(options: argparse.Namespace, folder: Path, guard: str, rows: list[M2Sentence], dev: list[M2Sentence]):
    """Train on the metric with this guard; what the held-out corrections were worth on the way."""
    transformers.set_seed(options.seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    reward = geceval.reward(METRIC, prefix=PREFIX, suffix=SUFFIX, guard=guard)
    watch = Watch(options, tokenizer, reward, dev)
    arguments = trl.GRPOConfig(
        output_dir=str(options.output / "run"),
        max_steps=options.steps,
        per_device_train_batch_size=16,
        num_generations=8,
        max_completion_length=24,
        learning_rate=options.lr,
        logging_steps=1,
        seed=options.seed,
        **COMMON,
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    data = datasets.Dataset.from_dict({"prompt": [PREFIX + row.source + SUFFIX for row in rows]})
    trainer = trl.GRPOTrainer(
        model, reward, arguments, data, processing_class=tokenizer, peft_config=adapter(), callbacks=[watch]
    )
    trainer.train()
    watch.look(options.steps, trainer.model)
    steps = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    signature = registry.make_scorer(METRIC, {"guard": guard}).score(watch.sources, watch.sources).signature
    return {"signature": signature, "curve": watch.curve, "steps": [float(value) for value in steps]}


def draw(curves: dict[str, Any], path: Path) -> None:
    """One panel a quantity, one line a guard."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 2.6), layout="constrained")
    for axes, (name, title) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        for (guard, run), mark in zip(curves.items(), ("o--", "s-", "^:"), strict=False):
            rows = run["curve"]
            axes.plot([row["step"] for row in rows], [row[name] for row in rows], mark, ms=3, label=f"guard={guard}")
        axes.set(title=title, xlabel="step")
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=100)


def train(options: argparse.Namespace) -> None:
    """Make the start unless it is there, train once a guard, and draw all trainings of the folder."""
    transformers.set_seed(options.seed)
    options.model = options.model or origin_of("smollm2").folder
    rows, dev = short(options.train, edited=True), short([options.dev], edited=False)
    for part in (rows, dev):
        random.Random(options.seed).shuffle(part)
    folder = options.output / "start"
    half = len(rows) // 2
    if not folder.is_dir():
        start(options, transformers.AutoTokenizer.from_pretrained(options.model), folder, rows[:half])
    held_out = dev[: options.held_out]
    for guard in options.guard:
        result = reinforce(options, folder, guard, rows[half:], held_out)
        write_text(options.output / f"{guard}.json", json.dumps(result, indent=1) + "\n")
    curves = {path.stem: json.loads(path.read_text()) for path in sorted(options.output.glob("*.json"))}
    draw(curves, options.output / "reward.png")


def main(arguments: list[str] | None = None) -> int:
    """Train and draw; the exit code."""
    options = parser().parse_args(arguments)
    return exit_code("reward_loop", lambda: train(options))


if __name__ == "__main__":
    sys.exit(main())
