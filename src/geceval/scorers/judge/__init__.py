"""Grading by a language model: prompts, client, reading and caching answers, options."""
