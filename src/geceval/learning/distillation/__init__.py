"""Distillation: a small causal language model learns from IMPARA-LM's what texts are worth and how they go on."""
