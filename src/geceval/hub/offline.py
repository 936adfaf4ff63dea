"""Which metrics run on what ships with geceval."""

from __future__ import annotations

from geceval.hub import registry


def offline_metrics() -> tuple[list[str], dict[str, str]]:
    """Metrics that run on what ships with geceval, and the others with what they need."""
    chosen, left = [], {}
    for name in registry.list_metrics():
        model = getattr(registry.scorer_class(name).Settings(), "model", None)
        if "llm" in registry.entry(name).extra.split(","):
            left[name] = "asks a language model of your choice"
        elif model is not None and str(model).partition(":")[0] != "bundled":
            left[name] = f"its default model, {model}, is not bundled"
        else:
            chosen.append(name)
    return chosen, left
