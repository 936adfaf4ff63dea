"""Publishing on the Hub: what belongs in each repository, the checks before anything is sent, and the upload."""
