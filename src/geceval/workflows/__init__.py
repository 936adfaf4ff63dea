"""Uses of metrics: compare systems, attribute scores, meta-evaluate, train a corrector, score many files."""
