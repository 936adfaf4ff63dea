"""The tokenizer of a checkpoint, and the forms in which texts are given to it: prose, or words with a label each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geceval.models.checkpoints import Checkpoint, CheckpointError, read_json, resolve
from geceval.models.library_messages import quiet, reason

PUBLISHED_BASE = "bert-base-cased"
PUBLISHED_VOCABULARY = 28_996
NOTHING_SPECIAL = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
"""How a causal language model's tokenizer is called: what looks like a special token is text, too. Otherwise a system
could leave `<|endoftext|>` in its output and be paid for it."""

_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model", "sentencepiece.bpe.model")


def load_tokenizer(checkpoint: Checkpoint) -> Any:
    """The checkpoint's own fast tokenizer, or that of the model it was made from if it was saved without one."""
    # That model is the base of an adapter, or what `_name_or_path` of the configuration names; else `bert-base-cased`
    # for a vocabulary of its size, which published IMPARA and SOME checkpoints lack.
    import transformers

    holder = _tokenizer_holder(checkpoint)
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                holder.folder, local_files_only=True, trust_remote_code=False, **_spelling(holder.folder)
            )
    except Exception as error:  # the tokenizer libraries raise bare Exceptions for damaged files
        raise CheckpointError(f"{holder.folder}: the tokenizer cannot be read ({reason(error)})") from error
    size = checkpoint.config.get("vocab_size")
    if size is not None and len(tokenizer) > size:
        raise CheckpointError(
            f"{checkpoint.folder}: the tokenizer of {holder.model!r} has {len(tokenizer)} entries, the network {size}"
        )
    return tokenizer


def _spelling(folder: Path) -> dict[str, bool]:
    """Arguments for the tokenizer of a cased BERT saved as `vocab.txt` alone, which would lower-case by default."""
    vocabulary = folder / "vocab.txt"
    if not vocabulary.is_file() or (folder / "tokenizer.json").is_file():
        return {}
    if (folder / "tokenizer_config.json").is_file() and "do_lower_case" in read_json(folder, "tokenizer_config.json"):
        return {}
    words = vocabulary.read_text(encoding="utf-8").split("\n")
    cased = any(word != word.lower() for word in words if not word.startswith("["))  # [CLS] and its like
    return {"do_lower_case": False} if cased else {}


def _tokenizer_holder(checkpoint: Checkpoint) -> Checkpoint:
    def has_one(candidate: Checkpoint) -> bool:
        return any((candidate.folder / name).is_file() for name in _VOCABULARIES)

    if has_one(checkpoint):
        return checkpoint
    if checkpoint.base is not None:
        return _tokenizer_holder(checkpoint.base)
    fallback = PUBLISHED_BASE if checkpoint.config.get("vocab_size") == PUBLISHED_VOCABULARY else None
    names = [name for name in (checkpoint.config.get("_name_or_path"), fallback) if name and name != checkpoint.model]
    for name in names:
        try:
            candidate = resolve(name)
        except CheckpointError:
            continue
        if has_one(candidate):
            return candidate
    where = f", nor has {' or '.join(map(repr, names))} on this machine" if names else ""
    raise CheckpointError(
        f"{checkpoint.folder}: no tokenizer ({', '.join(_VOCABULARIES[:2])}, ...) there{where}; copy the tokenizer of "
        f"the model it was trained from into the folder"
    )


def encode_words(
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_length: int | None = None
) -> list[tuple[list[int], list[int | None]]]:
    """Token ids of sentences that are split into words, and the position of the first sub-token of each word."""
    if not sentences:
        return []
    space = " " if _marks_spaces(tokenizer) else ""
    pieces = [[space + word for word in words] for words in sentences]
    encoded = tokenizer(
        pieces,
        is_split_into_words=True,
        truncation=max_length is not None,
        max_length=max_length,
        return_attention_mask=False,
        verbose=False,
    )
    rows = []
    for row, words in enumerate(sentences):
        labelled: list[int | None] = [None] * len(words)
        for index, word in enumerate(encoded.word_ids(row)):
            if word is not None and labelled[word] is None:
                labelled[word] = index
        rows.append((encoded["input_ids"][row], labelled))
    return rows


def _marks_spaces(tokenizer: Any) -> bool:
    """Whether a word after a space and a word at the start of a text have different sub-tokens."""
    before = tokenizer.backend_tokenizer.pre_tokenizer
    return before is not None and before.pre_tokenize_str(" a")[0][0] != before.pre_tokenize_str("a")[0][0]
