"""Grading by a language model: its prompts, and the session that asks them."""
