"""What metrics of edits share."""
