"""Fine-tune a small corrector, with metrics of geceval after each epoch and the best epoch kept.

    python training/train_gec_example.py --output my-corrector

An example of `geceval.trainer_metrics`. As it stands it makes a tiny T5 and its tokenizer from the example corpus,
without a network, and evaluates on the sentences that it learns by heart: it shows the parts at work, but is no
corrector. For one, take `--model google-t5/t5-small --lr 3e-4 --train SOURCE CORRECTED --dev SOURCE REFERENCE...`.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import Any

import datasets
import tokenizers
import transformers

import geceval
from geceval.core.errors import InputError, counted
from geceval.core.files import read_lines, write_text
from recipes.scripts import exit_code, script_parser

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
PREFIX = "grammar: "


def parser() -> argparse.ArgumentParser:
    """The options of the script."""
    parser = script_parser(__doc__)
    add = parser.add_argument
    example = [str(EXAMPLE / name) for name in ("source.txt", "reference_0.txt", "reference_1.txt")]
    add("--output", type=Path, required=True, help="folder of the model")
    add("--model", help="a folder or Hub id to start from; by default a tiny T5 with random weights")
    add("--train", nargs=2, metavar=("SOURCE", "CORRECTED"), default=example[:2], help="files, one sentence per line")
    add("--dev", nargs="+", metavar="FILE", default=example, help="the same: the source and one reference or more")
    add("--metrics", nargs="+", default=["errant", "impara"], help="what to compute after each epoch")
    add("--best", default="errant_f", help="the number whose best epoch is kept")
    add("--epochs", type=int, default=20, help="passes over the data")
    add("--lr", type=float, default=3e-3, help="learning rate")
    add("--batch-size", type=int, default=4, help="sentences a step")
    add("--max-length", type=int, default=64, help="tokens of a sentence")
    add("--seed", type=int, default=1, help="of weights and order")
    return parser


def tiny_t5(texts: list[str]) -> tuple[Any, Any]:
    """A T5 of 0.3 million random weights and a tokenizer over bytes with the frequent pieces of the texts."""
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    inner.decoder = tokenizers.decoders.ByteLevel()
    special = ["<pad>", "</s>"]
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1000, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(texts, trainer)
    inner.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="</s>")
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=256,
        num_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    return transformers.T5ForConditionalGeneration(config), tokenizer


def start(options: argparse.Namespace, texts: list[str]) -> tuple[Any, Any]:
    """The model to start from and its tokenizer."""
    if options.model is None:
        return tiny_t5(texts)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(options.model)
    return model, transformers.AutoTokenizer.from_pretrained(options.model)


def read_columns(paths: list[str]) -> list[list[str]]:
    """The lines of parallel files, one list per file."""
    columns = [read_lines(path) for path in paths]
    for path, column in zip(paths, columns, strict=True):
        if len(column) != len(columns[0]) or not column:
            raise InputError(f"{path} has {counted(len(column), 'line')} but {paths[0]} has {len(columns[0])}")
    return columns


def encode(tokenizer: Any, sources: list[str], targets: list[str], length: int) -> datasets.Dataset:
    """Token ids of inputs and labels."""
    texts = [PREFIX + source for source in sources]
    return datasets.Dataset.from_dict(dict(tokenizer(texts, text_target=targets, truncation=True, max_length=length)))


def train(options: argparse.Namespace) -> dict[str, Any]:
    """Train, and write the best model, its corrections of the dev sentences and `results.json`, which is returned."""
    transformers.set_seed(options.seed)
    sources, targets = read_columns(options.train)
    dev_sources, *references = read_columns(options.dev)
    model, tokenizer = start(options, [PREFIX, *sources, *targets])
    arguments = transformers.Seq2SeqTrainingArguments(
        output_dir=str(options.output / "run"),
        num_train_epochs=options.epochs,
        learning_rate=options.lr,
        warmup_steps=20,
        per_device_train_batch_size=options.batch_size,
        predict_with_generate=True,
        generation_max_length=options.max_length,
        include_for_metrics=["inputs"],  # the sources, without which GEC cannot be scored
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model=options.best,
        seed=options.seed,
        report_to="none",
        disable_tqdm=True,
    )
    dev = encode(tokenizer, dev_sources, references[0], options.max_length)
    trainer = transformers.Seq2SeqTrainer(
        model=model,
        args=arguments,
        train_dataset=encode(tokenizer, sources, targets, options.max_length),
        eval_dataset=dev,
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=geceval.trainer_metrics(
            tokenizer,
            options.metrics,
            arguments=arguments,
            prefix=PREFIX,
            references=[list(row) for row in zip(*references, strict=True)],
        ),
    )
    trainer.train()
    return finish(trainer, tokenizer, dev, options)


def finish(trainer: Any, tokenizer: Any, dev: datasets.Dataset, options: argparse.Namespace) -> dict[str, Any]:
    """Write what a finished training leaves."""
    output = trainer.predict(dev)
    texts = tokenizer.batch_decode(
        [[token for token in row if token >= 0] for row in output.predictions.tolist()],
        skip_special_tokens=True,
        clean_up_tokenization_spaces=False,
    )
    trainer.save_model(str(options.output))
    tokenizer.save_pretrained(options.output)
    write_text(options.output / "corrections.txt", "".join(f"{' '.join(text.split())}\n" for text in texts))
    results = {
        "best": {"metric": options.best, "value": trainer.state.best_metric, "step": trainer.state.best_global_step},
        "dev": {name.removeprefix("test_"): value for name, value in output.metrics.items()},
        "epochs": [row for row in trainer.state.log_history if "eval_loss" in row],
    }
    write_text(options.output / "results.json", json.dumps(results, indent=2) + "\n")
    return results


def main(arguments: list[str] | None = None) -> int:
    """Train and print the best epoch's numbers; the exit code."""
    options = parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    return exit_code("train_gec_example", lambda: print(json.dumps(train(options)["dev"])))


if __name__ == "__main__":
    sys.exit(main())
