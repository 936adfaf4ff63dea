"""What the edit-based metrics share."""
