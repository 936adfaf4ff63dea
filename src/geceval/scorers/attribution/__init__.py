"""Shares of a sentence's score that its edits have."""
