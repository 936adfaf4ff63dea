"""What comes in: prose or tokens, tokenisers, the source's tokens in prose, answers of language models."""
