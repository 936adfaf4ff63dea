"""Data sets of GEC as folders that `datasets.load_dataset` reads, built from the files that their authors publish."""
