"""`evaluate` modules, their registration, and publishing on the Hub."""
