"""The student before it learns: the first layers of its teacher, and the part of the vocabulary that its texts need."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from geceval.core.errors import InputError
from geceval.learning.network import forget_settings
from geceval.models.causal import CausalModel

_LAYER = re.compile(r"\blayers\.(\d+)\.")
_VOCABULARY = ("embed_tokens.weight", "lm_head.weight")


def needed_tokens(tokenizer: Any, counts: Mapping[int, int], size: int, always: Sequence[str]) -> list[int]:
    """The ids of the tokens that are counted most often, with those that byte-pair encoding makes them from."""
    # All single bytes are kept, so any text can still be encoded.
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    if model["type"] != "BPE":
        raise InputError(f"the vocabulary of a {model['type']} tokenizer cannot be cut, only that of BPE")
    ids = tokenizer.get_vocab()  # with special tokens, which the model of some tokenizers does not have
    parts = {left + right: (left, right) for left, right in map(_pair, model["merges"])}
    special = {token.content for token in tokenizer.added_tokens_decoder.values()}
    kept = {token for token in model["vocab"] if token not in parts and token not in special} | set(always)
    if len(kept) > size:
        raise InputError(f"vocabulary must be at least {len(kept)}: single bytes and special tokens, got {size}")
    names = {number: token for token, number in ids.items()}
    for number, _ in Counter(counts).most_common():
        new = _with_parts(names[number], parts, kept)
        if len(kept) + len(new) <= size and not new & special:
            kept |= new
    return sorted(ids[token] for token in kept)


def _with_parts(token: str, parts: Mapping[str, tuple[str, str]], known: set[str]) -> set[str]:
    """A token and all that it is merged from, without those that are known."""
    if token in known:
        return set()
    tokens = {token}
    for part in parts.get(token, ()):
        tokens |= _with_parts(part, parts, known)
    return tokens


def _pair(merge: Any) -> tuple[str, str]:
    """A merge of tokenizer.json, which older files hold as one text."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right


def cut_tokenizer(tokenizer: Any, kept: Sequence[int]) -> Any:
    """A copy of a fast tokenizer with the given tokens alone, numbered anew in the order given."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    model, number = content["model"], {old: new for new, old in enumerate(kept)}
    model["vocab"] = {token: number[old] for token, old in model["vocab"].items() if old in number}
    model["merges"] = [
        merge
        for merge in model["merges"]
        if all(part in model["vocab"] for part in (*_pair(merge), "".join(_pair(merge))))
    ]
    content["added_tokens"] = [
        {**token, "id": number[token["id"]]} for token in content["added_tokens"] if token["id"] in number
    ]
    smaller = copy.deepcopy(tokenizer)
    smaller._tokenizer = Tokenizer.from_str(json.dumps(content))
    return smaller


def make_student(teacher: CausalModel, layers: int, kept: Sequence[int], folder: Path) -> None:
    """Write a causal language model with the first layers and some tokens of the teacher, as transformers reads it."""
    config = copy.deepcopy(teacher.model.config)
    if not 1 <= layers <= config.num_hidden_layers:
        raise InputError(f"layers must be from 1 to {config.num_hidden_layers}, those of the teacher, got {layers}")
    forget_settings(config)
    tokenizer = cut_tokenizer(teacher.tokenizer, kept)
    config.num_hidden_layers, config.vocab_size = layers, len(kept)
    config.bos_token_id, config.eos_token_id = tokenizer.bos_token_id, tokenizer.eos_token_id
    config.pad_token_id = tokenizer.pad_token_id
    config.geceval_start_token = teacher.start_token
    state = {
        name: value[torch.tensor(kept)] if name.endswith(_VOCABULARY) else value
        for name, value in teacher.model.state_dict().items()
        if not (found := _LAYER.search(name)) or int(found[1]) < layers
    }
    student = type(teacher.model)(config).float()
    student.load_state_dict(state)
    student.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
