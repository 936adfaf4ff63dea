"""Pages: results as one HTML file."""
