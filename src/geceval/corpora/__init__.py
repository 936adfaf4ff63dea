"""Data sets of GEC: read as their authors publish them, checked, and written as folders for `datasets.load_dataset`.

A data set is an entry of `sources` (who published it, under which terms) and a function that `build` calls: it is in
`judgments` for rankings of system outputs, in `ratings` for rated outputs, in `parallel` for corrected texts.
"""
