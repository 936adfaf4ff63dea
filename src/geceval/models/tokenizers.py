"""The tokenizer of a checkpoint, and the forms in which texts are given to it: prose, or words with a label each."""

from __future__ import annotations

import re
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

# What `detokenize` leaves out, in this order, when runs of white space have become one space.
_RULES = (
    r"(?i) +(?=(?:n't|n’t|['’](?:s|m|re|ve|ll|d|t))(?:\s|$))",
    r" +(?=[.,!?;:%)\]}])",
    r"(?<=[(\[{]) +",
)
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "spm.model", "spiece.model", "sentencepiece.bpe.model")


def load_tokenizer(checkpoint: Checkpoint, config: Any = None) -> Any:
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
    settings = checkpoint.config if config is None else vars(config)
    if settings.get("geceval_border"):
        _put_around(tokenizer, settings["geceval_border"], holder)
    if settings.get("geceval_prose"):
        _read_as_prose(tokenizer)
    return tokenizer


def border_of(checkpoint: Checkpoint) -> str:
    """The token to put around the texts of a causal model, whose tokenizer puts none."""
    # That is `geceval_start_token` of the checkpoint, else the EOS token, else the BOS token.
    tokenizer = load_tokenizer(checkpoint)
    border = checkpoint.setting("start_token") or tokenizer.eos_token or tokenizer.bos_token
    if not border:
        raise CheckpointError(
            f"{checkpoint.folder}: a causal model whose tokenizer has no EOS or BOS token to put around texts; write "
            "one of its tokens into its config.json as geceval_start_token"
        )
    return border


def _put_around(tokenizer: Any, border: str, holder: Checkpoint) -> None:
    from tokenizers.processors import TemplateProcessing

    number = tokenizer.get_vocab().get(border)
    if number is None or not tokenizer.is_fast:
        raise CheckpointError(
            f"{holder.folder}: texts of this network have {border!r} around them, which its tokenizer "
            f"{'does not know' if number is None else 'cannot add: it is not a fast one (tokenizer.json)'}"
        )
    single, pair = [border, "$A", border], [border, "$A", border, "$B", border]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=single, pair=pair, special_tokens=[(border, number)]
    )


def _read_as_prose(tokenizer: Any) -> None:
    """Let the tokenizer of a causal model do what `detokenize` does, before all else."""
    from tokenizers import Regex, normalizers

    steps = [
        normalizers.Replace(Regex(r"\s+"), " "),
        normalizers.Strip(),
        *(normalizers.Replace(Regex(rule), "") for rule in _RULES),
    ]
    own = tokenizer.backend_tokenizer.normalizer
    tokenizer.backend_tokenizer.normalizer = normalizers.Sequence([*steps, own] if own else steps)


def _spelling(folder: Path) -> dict[str, bool]:
    """What to tell the tokenizer of a cased BERT that was saved as `vocab.txt` alone: by default it lower-cases."""
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
    tokenizer: Any, sentences: Sequence[Sequence[str]], max_length: int | None = None, twice: bool = False
) -> list[tuple[list[int], list[int | None]]]:
    """Token ids of sentences that are split into words."""
    if not sentences:
        return []
    space = " " if _marks_spaces(tokenizer) else ""
    pieces = [[space + word for word in words] for words in sentences]
    encoded = tokenizer(
        *([pieces] * (2 if twice else 1)),
        is_split_into_words=True,
        truncation=max_length is not None,
        max_length=max_length,
        return_attention_mask=False,
        verbose=False,
    )
    found = []
    for row, words in enumerate(sentences):
        labelled: list[int | None] = [None] * len(words)
        for index, word in enumerate(encoded.word_ids(row)):
            if word is not None and (twice or labelled[word] is None):  # of two copies the second loses no more words
                labelled[word] = index
        found.append((encoded["input_ids"][row], labelled))
    return found


def _marks_spaces(tokenizer: Any) -> bool:
    """Whether a word after a space and a word at the start of a text have different sub-tokens."""
    before = tokenizer.backend_tokenizer.pre_tokenizer
    return before is not None and before.pre_tokenize_str(" a")[0][0] != before.pre_tokenize_str("a")[0][0]


def detokenize(text: str) -> str:
    """A tokenised sentence with spaces as in prose."""
    # No space before `. , ! ? ; : % ) ] }`, none after `( [ {`, contractions (`do n't`, `it 's`) joined; runs of white
    # space become one space. Quotation marks stay as they are, since they do not tell whether they open or close.
    text = " ".join(text.split())
    for rule in _RULES:
        text = re.sub(rule, "", text)
    return text
