"""Where the bundled weights, the pipeline and the example corpus are."""

from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "assets"
