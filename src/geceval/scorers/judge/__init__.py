"""Grading by a language model: what it is asked, how it is asked, how its answers are read and kept."""
