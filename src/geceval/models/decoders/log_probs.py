"""Log-probabilities of the tokens of padded texts under a causal language model, its logits never held all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geceval.models import heads

if TYPE_CHECKING:
    import torch

LARGEST_OUTPUT = 1 << 24  # logits that are held at once: 64 MiB of float32


def log_probs(
    model: Any, ids: torch.Tensor, mask: torch.Tensor, head_alone: bool, layer: int | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """log P(token | the tokens before it) of every token but the first, differentiable."""
    import torch

    real, targets = mask[:, 1:].bool(), ids[:, 1:]
    vocabulary = model.config.get_text_config().vocab_size
    body = {"use_cache": False, "output_hidden_states": layer is not None}
    if head_alone:
        output = model.base_model(input_ids=ids, attention_mask=mask, **body)
        head, size = model.get_output_embeddings(), max(1, LARGEST_OUTPUT // vocabulary)
        parts = zip(output.last_hidden_state[:, :-1][real].split(size), targets[real].split(size), strict=True)
        found = [_gathered(head(states), targets) for states, targets in parts]
        states = output.hidden_states[layer] if layer is not None else None
    else:
        size = max(1, LARGEST_OUTPUT // (ids.shape[1] * vocabulary))
        found, states = [], None if layer is None else []
        for part in zip(*(each.split(size) for each in (ids, mask, real, targets)), strict=True):
            output = model(input_ids=part[0], attention_mask=part[1], **body)
            found.append(_gathered(output.logits[:, :-1][part[2]], part[3][part[2]]))
            if layer is not None:
                states.append(output.hidden_states[layer])
        states = None if layer is None else torch.cat(states)
    return torch.zeros(real.shape, device=ids.device).masked_scatter(real, torch.cat(found)), states


def _gathered(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the targets: [tokens, vocabulary] and [tokens] to [tokens]."""
    import torch

    return -torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none")


def head_is_all(model: Any) -> bool:
    """Whether the output layer alone maps token states to logits: not where they are then scaled or capped."""
    import torch

    ids = torch.tensor([[1, 2, 3]], device=model.device)
    with torch.inference_mode():
        logits = model(input_ids=ids).logits
        alone = model.get_output_embeddings()(model.base_model(input_ids=ids).last_hidden_state)
    return heads.close(logits, alone)
