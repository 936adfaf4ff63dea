"""Publishing on the Hub: what belongs into each repository, the checks before anything is sent, and the upload."""
