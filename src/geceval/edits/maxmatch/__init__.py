"""MaxMatch edits (M2): the lattice of all ways to cut a correction into edits."""
