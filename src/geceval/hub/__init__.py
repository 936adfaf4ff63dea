"""The Hugging Face face: evaluate modules, the registry, publishing."""
