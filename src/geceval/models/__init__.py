"""Networks and their answers for a text; inference only."""
