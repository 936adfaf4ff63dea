"""Everything specific to Hugging Face: evaluate modules, their registration, publishing."""
