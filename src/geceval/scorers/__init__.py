"""The metrics, one file each: sources, predictions and sometimes references in, a `Result` out."""
