"""Where weights come from: the Hub, packages of the package index, files in GGUF."""
