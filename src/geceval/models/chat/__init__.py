"""Chat models, behind an OpenAI-compatible endpoint or in this process; they know nothing of metrics."""
