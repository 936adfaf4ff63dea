"""What predictions are compared with: references or an M2 file, and, of several annotators, which one."""
