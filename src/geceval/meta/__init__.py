"""Meta-evaluation: do metrics agree with people? Works on scores and judgments, whatever metric they come from."""
