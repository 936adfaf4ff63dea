"""The spaCy pipeline that tags and parses sentences for ERRANT, and its name in the signature."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, InputTypeError
from geceval.core.files import ASSETS

if TYPE_CHECKING:
    from spacy.language import Language

OFFICIAL = "en_core_web_sm"
BUNDLED = ASSETS / "pipeline"

_PROBE = ("She", "has", "not", "seen", "the", "dogs", ".")


def resolve(nlp: str | Path | Language) -> str | Language:
    """Find out which pipeline is meant, without loading it."""
    import spacy
    from spacy.language import Language

    if isinstance(nlp, Language):
        return nlp
    if not isinstance(nlp, (str, Path)):
        raise InputTypeError(f"nlp must be a spaCy pipeline, its name or its folder, got {type(nlp).__name__}")
    if nlp == "bundled":
        if not (BUNDLED / "meta.json").is_file():
            raise InputError(f"the spaCy pipeline that comes with geceval is missing ({BUNDLED}). {_advice(OFFICIAL)}")
        return str(BUNDLED)
    if nlp == "official":
        name = official_package()
        if name is None:
            raise InputError(f"the spaCy pipeline {OFFICIAL} is not installed. {_advice(OFFICIAL)}")
        return name
    if isinstance(nlp, str) and spacy.util.is_package(nlp):
        return nlp
    if (Path(nlp) / "meta.json").is_file():
        return str(Path(nlp).resolve())
    if Path(nlp).is_dir():
        raise InputError(f"the folder {str(nlp)!r} holds no spaCy pipeline (no meta.json). {_advice(OFFICIAL)}")
    raise InputError(f"there is no spaCy pipeline {str(nlp)!r}, neither installed nor as a folder. {_advice(str(nlp))}")


def official_package() -> str | None:
    """The installed package that holds `en_core_web_sm`: the one of this name, else one that starts with it."""
    import spacy

    if spacy.util.is_package(OFFICIAL):
        return OFFICIAL
    return min((name for name in spacy.util.get_installed_models() if name.startswith(OFFICIAL)), default=None)


def load(nlp: str | Language, language: str = "en") -> tuple[Language, str]:
    """Load what `resolve` returned."""
    import spacy

    if not isinstance(nlp, str):
        _probe(nlp, _name(nlp), language)
        return nlp, f"{_name(nlp)}@{_digest(nlp.to_bytes(exclude=['vocab']))}"
    try:
        pipeline = spacy.load(nlp, exclude=["ner"])
    except Exception as error:  # whatever a broken folder makes spaCy, thinc or msgpack raise
        reason = " ".join(str(error).split())
        raise InputError(f"cannot load the spaCy pipeline {nlp!r}: {reason}. {_advice(nlp)}") from error
    _probe(pipeline, nlp, language)
    if spacy.util.is_package(nlp):
        return pipeline, f"{nlp}-{pipeline.meta['version']}"
    return pipeline, f"{_name(pipeline)}@{_digest(*_contents(Path(nlp)))}"


def multiply_with_numpy(nlp: Language) -> None:
    """Let the networks of a pipeline multiply matrices by numpy, which is thrice as fast as spaCy's own BLIS."""
    # Only products on the processor that BLIS would do are changed; what they give differs by rounding, 1e-7 or so.
    from thinc.api import Model, NumpyOps

    ops = NumpyOps(use_blis=False)
    for _, component in nlp.pipeline:
        model = getattr(component, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            if type(node.ops) is NumpyOps:
                node.ops = ops


def one_thread() -> AbstractContextManager[Any]:
    """A context in which numpy multiplies on one thread: a pipeline's matrices are small, and others mostly wait."""
    return _controller().limit(limits=1, user_api="blas")


@lru_cache(1)
def _controller() -> Any:
    """Of the libraries that numpy has loaded by now."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def fingerprint(nlp: str | Path) -> str:
    """Name and version of an installed pipeline, or the folder and a hash of its files; nothing is loaded."""
    import spacy

    name = str(resolve(nlp))
    if spacy.util.is_package(name):
        return f"{name}-{spacy.util.get_package_version(name)}"
    return f"{Path(name).name}@{_digest(*_contents(Path(name)))}"


def _probe(pipeline: Language, name: str, language: str) -> None:
    """Refuse a pipeline whose tags mean nothing to ERRANT, before thousands of sentences are parsed."""
    from errant.en.classifier import pos_map
    from spacy.tokens import Doc

    try:
        doc = pipeline(Doc(pipeline.vocab, words=list(_PROBE)))
    except Exception as error:  # any component may fail in its own way
        reason = " ".join(str(error).split())
        raise InputError(f"the spaCy pipeline {name!r} does not run: {reason}. {_advice(name)}") from error
    strange = sorted({token.tag_ for token in doc} - set(pos_map))
    if language != "en" and not all(token.pos_ for token in doc):
        raise InputError(f"the spaCy pipeline {name!r} gives no universal parts of speech; leave nlp out to do without")
    if language == "en" and strange:
        raise InputError(
            f"the spaCy pipeline {name!r} does not give the Penn Treebank tags that ERRANT reads (it gave "
            f"{strange[0]!r}); use an English pipeline with a tagger. {_advice(OFFICIAL)}"
        )


def _advice(name: str) -> str:
    package = name if name.startswith("en_") and "/" not in name else OFFICIAL
    return f"Run: python -m spacy download {package} - or pass nlp='bundled' for the pipeline that comes with geceval"


def _name(pipeline: Language) -> str:
    meta: dict[str, Any] = pipeline.meta
    return f"{meta['lang']}_{meta['name']}-{meta['version']}"


def _contents(folder: Path) -> list[bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    return [part for path in files for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes())]


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:7]
