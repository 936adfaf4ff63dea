"""What `geceval.models.causal` is made of: trees of texts that begin alike, heads on token states."""
