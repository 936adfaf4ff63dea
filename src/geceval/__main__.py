"""`python -m geceval`, for use where the console script is not on the path."""

from geceval.cli import main

main()
