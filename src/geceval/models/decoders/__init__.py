"""What readers of causal language models stand on."""
