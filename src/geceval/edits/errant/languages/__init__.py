"""Languages other than English: how edits are merged and typed."""
