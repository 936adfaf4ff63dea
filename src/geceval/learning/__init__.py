"""How checkpoints are made: recipes, training loops, run folders, cards."""
