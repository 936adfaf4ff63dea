"""Error detectors: training and card."""
