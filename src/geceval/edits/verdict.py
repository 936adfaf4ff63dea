"""A probability that an edit is right, in words."""

RIGHT = 0.9
DOUBTFUL = 0.775  # below it; best for ERRANT's F0.5 of two systems on W&I+LOCNESS dev


def verdict(chance: float) -> str:
    """A probability in words."""
    return "right" if chance >= RIGHT else "probably right" if chance >= DOUBTFUL else "doubtful"
