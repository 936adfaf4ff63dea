"""The scale of a finished quality estimator: fitted on pairs, and written into the output layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.torch import load_file, save_file

from geceval.core.errors import InputError


def log_odds(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Scale and shift under which differences of logits are log-odds, and logits are 0 on average."""
    # The loss of IMPARA does not fix the scale of q: it only falls as q grows, until sigmoids reach 0 or 1 and
    # sentences tie. This is the maximum-likelihood scale of P(S+ is better) = sigmoid(q(S+) - q(S-)) (temperature
    # scaling).
    from scipy.optimize import minimize_scalar

    unit = max(float(np.abs(high - low).mean()), 1e-12)  # the search is for logits of any size
    margins = (high - low) / unit
    fitted = minimize_scalar(lambda x: np.logaddexp(0, -np.exp(x) * margins).mean(), bounds=(-5, 5), method="bounded")
    scale = float(np.exp(fitted.x)) / unit
    return scale, -scale * float(np.concatenate([low, high]).mean())


def rescale(folder: Path, scale: float, shift: float) -> None:
    """Make a saved checkpoint give `scale` times its logit plus `shift`, by changing its output layer."""
    found = [folder / name for name in ("adapter_model.safetensors", "model.safetensors") if (folder / name).is_file()]
    tensors = load_file(found[0]) if found else {}
    layers = [name for name in tensors if name.endswith(("classifier.weight", "classifier.out_proj.weight"))]
    if len(layers) != 1:
        raise InputError(f"{folder}: expected one output layer, found {len(layers)}")
    for name, offset in ((layers[0], 0.0), (layers[0].removesuffix("weight") + "bias", shift)):
        tensors[name] = (tensors[name].double() * scale + offset).to(tensors[name].dtype)
    save_file(tensors, found[0], {"format": "pt"})
    found[0].chmod(0o644)
