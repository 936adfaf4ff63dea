"""SOME: training on human ratings, and card."""
