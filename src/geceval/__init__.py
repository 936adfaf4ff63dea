"""geceval: metrics of grammatical error correction as Hugging Face evaluate modules, also offline."""

from __future__ import annotations

from geceval.version import __version__

__all__ = ["__version__"]
