"""Training on corrections of the user's own: IMPARA and IMPARA-LM."""
