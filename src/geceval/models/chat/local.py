"""A chat model in this process: a causal language model that decodes greedily, freely or along a schema."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from geceval.core.errors import InputError
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.chat.base import CallFailed, Messages, Reply, json_escape
from geceval.models.checkpoints import resolve
from geceval.models.devices import pick_dtype
from geceval.models.sources.library_messages import first_line, quiet

_SLOT = "\0"  # which no JSON holds


class LocalModel:
    """A causal language model that answers chats one at a time, so that no reply depends on other chats of a batch."""

    deterministic = True
    parallel = False

    def __init__(self, model: str, runtime: RunTime, max_tokens: int, by_schema: bool = False) -> None:
        if "," in runtime.device:
            raise InputError(f"a local model answers on one device, got {runtime.device!r}")
        self._causal = CausalModel.load(resolve(model), runtime)
        self._max_tokens = max_tokens
        self._by_schema = by_schema
        self._lock = threading.Lock()
        self.name = self._causal.name
        self.fingerprint = {"model": self.name, "max_tokens": max_tokens, "dtype": pick_dtype(runtime), "greedy": True}
        if by_schema:
            self.fingerprint["by_schema"] = True

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """See `geceval.models.chat.base.ChatModel`; `schema` is used only if answers are given their form."""
        import torch

        inputs = self.encode(messages).to(self._causal.model.device)
        size = inputs["input_ids"].shape[1]
        limit = self._causal.max_length
        if limit is not None and size + self._max_tokens > limit:
            raise CallFailed(
                "too_long", f"{size} tokens and {self._max_tokens} for the answer, but the model reads {limit}"
            )
        if self._by_schema:
            with self._lock, torch.inference_mode():
                return self._fill(inputs["input_ids"], schema)
        with self._lock, torch.inference_mode(), quiet():
            output = self._causal.model.generate(**inputs, generation_config=self._greedy())
        answer = output[0, size:]
        text = self._causal.tokenizer.decode(answer, skip_special_tokens=True)
        return Reply(text, prompt_tokens=size, completion_tokens=len(answer))

    def _fill(self, prompt: Any, schema: Mapping[str, Any]) -> Reply:
        """The answer whose values are, one after the other, the most probable of those that the schema allows."""
        import torch

        form, allowed = _form(schema)
        *given, end = form.split(_SLOT)
        text, unread, past = "", prompt, None
        for before, values in zip(given, allowed, strict=True):
            output = self._causal.model(
                input_ids=torch.cat([unread, self._tokens(before)], 1), past_key_values=past, use_cache=True
            )
            tokens = [self._tokens(value) for value in values]
            if any(token.shape[1] != 1 for token in tokens):
                raise InputError(f"{self.name}: its tokenizer has no single tokens for {', '.join(values)}")
            best = int(output.logits[0, -1, torch.cat(tokens, 1)[0]].argmax())
            text += before + values[best]
            unread, past = tokens[best], output.past_key_values
        return Reply(text + end, prompt_tokens=prompt.shape[1], completion_tokens=self._tokens(text + end).shape[1])

    def _tokens(self, text: str) -> Any:
        """Token ids, `[1, tokens]`."""
        options = {"add_special_tokens": False, "return_tensors": "pt", "verbose": False}
        return self._causal.tokenizer(text, **options)["input_ids"].to(self._causal.model.device)

    def encode(self, messages: Messages) -> Any:
        """The chat as token ids, `[1, tokens]`, by the model's chat template if it has one."""
        tokenizer = self._causal.tokenizer
        messages = [messages[0], {**messages[1], "content": self._escape_special_tokens(messages[1]["content"])}]
        if tokenizer.chat_template is None:
            text = "\n\n".join([*(message["content"] for message in messages), ""])
            return tokenizer(text, return_tensors="pt", return_token_type_ids=False, verbose=False)
        text = self._apply_template(messages)
        options = {"add_special_tokens": False, "return_token_type_ids": False, "verbose": False}
        return tokenizer(text, return_tensors="pt", **options)

    def _escape_special_tokens(self, material: str) -> str:
        """JSON in which no string holds a special token of the tokenizer: their first character is escaped."""
        for token in self._causal.tokenizer.all_special_tokens:
            if token in material and ord(token[0]) < 0x10000:
                material = material.replace(token, json_escape(token[0]) + token[1:])
        return material

    def _apply_template(self, messages: Messages) -> str:
        import jinja2

        system, user = messages
        together = {"role": "user", "content": f"{system['content']}\n\n{user['content']}"}
        problem: Exception | None = None
        for chat in (messages, [together]):  # some templates know no system message, and say so
            try:
                template = self._causal.tokenizer.apply_chat_template
                return template(chat, tokenize=False, add_generation_prompt=True)
            except jinja2.TemplateError as error:
                problem = error
        raise InputError(f"{self.name}: its chat template takes neither form of the question ({first_line(problem)})")

    def _greedy(self) -> Any:
        """Greedy decoding; of the checkpoint's own settings only the tokens that end an answer are kept."""
        import transformers

        model, tokenizer = self._causal.model, self._causal.tokenizer
        end = model.generation_config.eos_token_id
        end = tokenizer.eos_token_id if end is None else end
        padding = tokenizer.pad_token_id
        if padding is None:
            padding = end[0] if isinstance(end, list) else end
        return transformers.GenerationConfig(
            do_sample=False,
            num_beams=1,
            repetition_penalty=1.0,
            no_repeat_ngram_size=0,
            max_new_tokens=self._max_tokens,
            eos_token_id=end,
            pad_token_id=padding,
        )


def _form(schema: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """An answer in JSON with `_SLOT` in place of each value, and the values that each slot may have, in JSON."""
    if "enum" in schema:
        return _SLOT, [[json.dumps(value) for value in schema["enum"]]]
    parts = {name: _form(value) for name, value in schema["properties"].items()}
    text = ",".join(f"{json.dumps(name)}:{form}" for name, (form, _) in parts.items())
    return f"{{{text}}}", [values for _, allowed in parts.values() for values in allowed]
