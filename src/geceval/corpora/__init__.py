"""Data sets of GEC: read as their authors publish them, checked, and written as folders for `datasets.load_dataset`."""
