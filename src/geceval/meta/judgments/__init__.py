"""Human judgments: rankings of system outputs, ratings of single outputs, scores of systems, and their readers."""
