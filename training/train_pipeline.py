"""Train, prune, measure and describe the spaCy pipeline that ERRANT reads offline.

    python training/train_pipeline.py --data ../shared/data/ud-ewt --cweb ../shared/data/cweb \
        --output src/geceval/assets/pipeline
    python training/train_pipeline.py evaluate src/geceval/assets/pipeline \
        --data ../shared/data/ud-ewt --cweb ../shared/data/cweb

Trees and their variants: `pipeline_trees.py`. Figures and the card: `pipeline_figures.py`, `pipeline_card.md`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from spacy.pipeline._edit_tree_internals.edit_trees import EditTrees
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.util import fix_random_seed, load_model_from_config
from thinc.api import Adam

from pipeline_figures import PROBE_FILE, cweb_agreement, ewt_scores, example, write_card
from pipeline_trees import Augmenter, Tree, gold_doc, read_trees

NAME, VERSION = "geceval_en_ewt", "0.1.0"
DESCRIPTION = "Tags, lemmas and dependencies for ERRANT, trained on UD English-EWT."
SPACY = ">=3.7.0,<3.9.0"
MIN_TREE = 3
SAVE_EVERY = 2

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Settings:
    """Everything that shapes the weights; `plain` to `typo` are the chances of `Augmenter`."""

    epochs: int = 14
    seed: int = 0
    width: int = 96
    depth: int = 4
    pieces: int = 3
    rows: tuple[int, ...] = (5000, 1000, 3000, 1500)
    hidden: int = 64
    batch_words: int = 600
    learn_rate: float = 0.002
    warmup_steps: int = 200
    dropout: float = 0.2
    plain: float = 0.3
    plural: float = 0.15
    substitute: float = 0.2
    typo: float = 0.02


def build(settings: Settings) -> Language:
    """The untrained pipeline: four components that listen to one tok2vec."""
    nlp = spacy.blank("en")
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": settings.width,
        "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
        "rows": list(settings.rows),
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": settings.width,
        "depth": settings.depth,
        "window_size": 1,
        "maxout_pieces": settings.pieces,
    }
    nlp.add_pipe("tok2vec", config={"model": {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": settings.width, "upstream": "*"}
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener, "normalize": False}
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "extra_state_tokens": False,
        "hidden_width": settings.hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "tok2vec": listener,
    }
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("morphologizer", config={"model": tagger})
    nlp.add_pipe("parser", config={"model": parser, "min_action_freq": 20})
    nlp.add_pipe("trainable_lemmatizer", config={"model": tagger, "min_tree_freq": MIN_TREE, "top_k": 3})
    nlp.meta.update(name=NAME, version=VERSION, license="CC BY-SA 4.0", description=DESCRIPTION, spacy_version=SPACY)
    return nlp


class LemmaFilter:
    """Blanks lemmas whose edit tree is too rare to be a class; spaCy would count them towards the first class."""

    def __init__(self, trees: list[Tree]):
        self.edit_trees = EditTrees(StringStore())
        counts = Counter(self.edit_trees.add(word.form, word.lemma) for tree in trees for word in tree)
        self.frequent = {number for number, count in counts.items() if count >= MIN_TREE}

    def __call__(self, tree: Tree) -> Tree:
        """Blanks rare lemmas in place and returns the tree."""
        for word in tree:
            if word.lemma and self.edit_trees.add(word.form, word.lemma) not in self.frequent:
                word.lemma = ""
        return tree


def fit(trees: list[Tree], dev: list[Tree], settings: Settings, partial: Path) -> None:
    """Trains the pipeline; every few epochs its averaged weights are saved to `partial` and scored on `dev`."""
    fix_random_seed(settings.seed)
    nlp = build(settings)
    keep = LemmaFilter(trees)
    chances = settings.plain, settings.plural, settings.substitute, settings.typo
    augment = Augmenter(trees, *chances, settings.seed)
    nlp.initialize(lambda: [example(nlp.vocab, gold_doc(nlp.vocab, keep([replace(w) for w in t]))) for t in trees])
    optimizer = Adam(settings.learn_rate, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)
    total = settings.epochs * sum(map(len, trees))
    seen = step = 0
    for epoch in range(1, settings.epochs + 1):
        losses: dict[str, float] = {}
        docs = [gold_doc(nlp.vocab, keep(augment(tree))) for tree in trees]
        augment.random.shuffle(docs)
        for batch in minibatch_by_words(docs, settings.batch_words):
            warm = min(1.0, (step + 1) / settings.warmup_steps)
            optimizer.learn_rate = settings.learn_rate * warm * max(0.01, 1 - seen / total)
            nlp.update(
                [example(nlp.vocab, doc) for doc in batch],
                drop=settings.dropout,
                sgd=optimizer,
                losses=losses,
            )
            step, seen = step + 1, seen + sum(map(len, batch))
        if epoch % SAVE_EVERY == 0 or epoch == settings.epochs:
            with nlp.use_params(optimizer.averages):
                pruned(nlp).to_disk(partial)
            typer.echo(f"epoch {epoch}: {json.dumps(ewt_scores(spacy.load(partial), dev))}")


def minibatch_by_words(docs: Iterable[Doc], words: int) -> Iterator[list[Doc]]:
    """Batches of at least `words` words, in order; the last may be smaller."""
    batch: list[Doc] = []
    for doc in docs:
        batch.append(doc)
        if sum(map(len, batch)) >= words:
            yield batch
            batch = []
    if batch:
        yield batch


def pruned(nlp: Language) -> Language:
    """The same pipeline over a vocabulary of labels and pieces of lemmas, without the words it was trained on."""
    slim = load_model_from_config(nlp.config, meta=nlp.meta)
    slim.from_bytes(nlp.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    for name in ("tagger", "morphologizer", "parser"):
        for label in slim.get_pipe(name).labels:
            slim.vocab.strings.add(label)
    trees = slim.get_pipe("trainable_lemmatizer").trees
    for piece in (piece for number in range(len(trees)) for piece in trees[number].items()):
        if piece[0] in {"orig", "subst"}:
            slim.vocab.strings.add(nlp.vocab.strings[piece[1]])
    return slim


def measure(model: Path, data: Path, cweb: Path) -> dict[str, Any]:
    """Every figure of the card, for a saved pipeline."""
    nlp = spacy.load(model)
    return {
        "ewt": {split: ewt_scores(nlp, read_trees(data, split)) for split in ("dev", "test")},
        "cweb": cweb_agreement(nlp, cweb),
    }


Data = Annotated[Path, typer.Option(help="Folder of *-ud-{train,dev,test}.conllu[.gz].")]
Cweb = Annotated[Path, typer.Option(help="Folder of CWEB's M2 files.")]


@app.callback(invoke_without_command=True)
def train(
    context: typer.Context,
    data: Data = Path("../shared/data/ud-ewt"),
    cweb: Cweb = Path("../shared/data/cweb"),
    output: Annotated[Path, typer.Option(help="Folder to write, replaced when the run is over.")] = Path(
        "runs/pipeline"
    ),
    epochs: Annotated[int, typer.Option(min=1)] = Settings.epochs,
    seed: int = Settings.seed,
) -> None:
    """Trains the pipeline, measures it, and writes it with its card."""
    if context.invoked_subcommand:
        return
    settings = Settings(epochs=epochs, seed=seed)
    partial = output.with_name(output.name + ".partial")
    trees = {split: read_trees(data, split) for split in ("train", "dev", "test")}
    if not (cweb / PROBE_FILE).is_file():
        raise typer.BadParameter(f"no {PROBE_FILE} in {cweb}", param_hint="--cweb")
    partial.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    fit(trees["train"], trees["dev"], settings, partial)
    run = {
        "name": NAME,
        "version": VERSION,
        "minutes": round((time.monotonic() - start) / 60),
        "machine": f"{platform.machine()}, {os.environ.get('OMP_NUM_THREADS', 'all')} thread(s)",
        **{name: version(name) for name in ("spacy", "thinc", "errant")},
        "megabytes": round(sum(path.stat().st_size for path in partial.rglob("*") if path.is_file()) / 1e6, 1),
    }
    metrics = {"run": run, "settings": asdict(settings), **measure(partial, data, cweb)}
    (partial / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    write_card(metrics, partial / "README.md")
    if output.exists():
        shutil.rmtree(output)
    partial.rename(output)


@app.command()
def evaluate(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline.")],
    data: Data = Path("../shared/data/ud-ewt"),
    cweb: Cweb = Path("../shared/data/cweb"),
) -> None:
    """Prints the figures of a trained pipeline as JSON."""
    typer.echo(json.dumps(measure(model, data, cweb), indent=1))


if __name__ == "__main__":
    app()
