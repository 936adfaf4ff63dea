"""Origins of weights: the Hub, packages of the package index, files in GGUF."""
