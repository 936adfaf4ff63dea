"""Dependency trees of UD English-EWT in the scheme that ERRANT's rules were written for, and variants to train on.

ERRANT's classifier tests labels of spaCy's own English pipelines (`auxpass`, `prt`, `prep`, `acomp`, `pobj`, ...) and,
through `preceded_by_aux`, the auxiliaries below a verb, so that a copula has to head its clause.
"""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from geceval.core.files import split_lines

# Labels that only change their name. What is absent keeps the part before the colon.
PLAIN_LABELS = {
    "root": "ROOT",
    "aux:pass": "auxpass",
    "nsubj:pass": "nsubjpass",
    "csubj:pass": "csubjpass",
    "compound:prt": "prt",
    "nmod:poss": "poss",
    "obj": "dobj",
    "iobj": "dative",
    "det:predet": "predet",
    "cc:preconj": "preconj",
    "acl:relcl": "relcl",
    "advcl:relcl": "relcl",
    "discourse": "intj",
    "obl:unmarked": "npadvmod",
    "nmod:unmarked": "npadvmod",
    "nmod:desc": "compound",
}
SUBJECTS = {"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "csubj:outer", "expl"}
# What belongs to a clause, and therefore to its copula, rather than to the predicate.
CLAUSAL = SUBJECTS | {"aux", "aux:pass", "mark", "punct", "advcl", "parataxis", "discourse", "vocative", "cc"}
NEGATIONS = {"not", "n't"}
# Open classes whose words may stand in for each other; the second tag keeps auxiliaries out.
OPEN = {"NN": "NOUN", "NNS": "NOUN", "JJ": "ADJ"} | {f"VB{x}": "VERB" for x in ("", "D", "G", "N", "P", "Z")}


@dataclass(slots=True)
class Word:
    """One syntactic word of a UD tree; `head` counts from 0, and is -1 at the root."""

    form: str
    lemma: str
    pos: str
    tag: str
    head: int
    label: str


Tree = list[Word]


def read_trees(folder: Path, split: str) -> list[Tree]:
    """Reads `*-ud-<split>.conllu[.gz]`, leaving out multi-word tokens and empty nodes."""
    path = next(iter(sorted(folder.glob(f"*-ud-{split}.conllu*"))), None)
    if path is None:
        raise FileNotFoundError(f"no *-ud-{split}.conllu[.gz] in {folder}")
    text = (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8").read()
    trees = []
    for block in text.split("\n\n"):
        rows = [line.split("\t") for line in split_lines(block) if line[:1].isdigit()]
        tree = [
            Word(form.replace(" ", ""), lemma, pos, tag, int(head) - 1, label)
            for number, form, lemma, pos, tag, _, head, label, *_ in rows
            if number.isdigit()
        ]
        if tree:
            trees.append(tree)
    return trees


def raise_copulas(tree: Tree) -> None:
    """Makes each copula the head of its clause, and its predicate a child labelled `pred`, in place."""
    for index, copula in enumerate(tree):
        if copula.label != "cop":
            continue
        predicate_index = copula.head
        for other, word in enumerate(tree):
            if word.head != predicate_index or other == index:
                continue
            adverb = word.label == "advmod" and other <= index + 1
            clause = any(child.head == other and child.label in SUBJECTS | {"cop"} for child in tree)
            if word.label == "cop":
                word.label = "aux"
            elif not (
                word.label in CLAUSAL
                or (adverb and (other < index < predicate_index or word.lemma in NEGATIONS))
                or (word.label == "conj" and clause)
            ):
                continue
            word.head = index
        predicate = tree[predicate_index]
        copula.head, copula.label = predicate.head, predicate.label
        predicate.head, predicate.label = index, "pred"


def errant_label(tree: Tree, index: int) -> str:
    """The label of a word in the scheme that ERRANT's rules read, in a tree after `raise_copulas`."""
    word, label = tree[index], tree[index].label
    if label == "case":
        return "case" if word.tag == "POS" else "prep"
    if label == "mark" and word.tag == "TO":
        return "aux"
    if label == "mark":
        return "prep" if word.tag == "IN" and tree[word.head].tag == "VBG" else "mark"
    if label == "fixed" and word.tag == "IN":
        return "prep"
    if label == "advmod" and word.lemma in NEGATIONS:
        return "neg"
    if label in {"obl", "nmod", "obl:agent", "pred", "xcomp"}:
        if any(child.head == index and child.label == "case" and child.tag != "POS" for child in tree):
            return "pobj"
        if label in {"pred", "xcomp"}:
            return "acomp" if word.tag.startswith("JJ") else {"pred": "attr"}.get(label, label)
        return "npadvmod"
    return PLAIN_LABELS.get(label, label.split(":")[0])


def gold_doc(vocab: Vocab, tree: Tree) -> Doc:
    """The annotated spaCy document of a UD tree."""
    tree = [replace(word) for word in tree]
    raise_copulas(tree)
    return Doc(
        vocab,
        words=[word.form for word in tree],
        tags=[word.tag for word in tree],
        pos=[word.pos for word in tree],
        lemmas=[word.lemma for word in tree],
        heads=[index if word.head < 0 else word.head for index, word in enumerate(tree)],
        deps=[errant_label(tree, index) for index in range(len(tree))],
    )


class Augmenter:
    """Variants of training trees, whose open words may stand in for each other."""

    # Chances: `plain` that a sentence loses its case, its first capital or its final mark; `plural` that a possessor
    # becomes plural ("the dog 's" to "the cats '"; EWT has few of these); `substitute` that an open word gives way to
    # another of its tag, in half of the sentences; `typo` that a word of five letters or more is misspelt.

    def __init__(self, trees: list[Tree], plain: float, plural: float, substitute: float, typo: float, seed: int):
        self.plain, self.plural, self.substitute, self.typo = plain, plural, substitute, typo
        self.random = random.Random(seed)
        pools: dict[str, set[tuple[str, str]]] = {}
        for word in (word for tree in trees for word in tree if replaceable(word)):
            pools.setdefault(word.tag, set()).add((word.form, word.lemma))
        self.pools = {tag: sorted(pool) for tag, pool in pools.items()}
        self.plurals = [pair for pair in self.pools.get("NNS", []) if pair[0].endswith("s")]

    def __call__(self, tree: Tree) -> Tree:
        """Returns a changed copy of a tree."""
        tree, chance = [replace(word) for word in tree], self.random.random
        if chance() < 0.5:
            for word in filter(replaceable, tree):
                if chance() < self.substitute:
                    word.form, word.lemma = self.random.choice(self.pools[word.tag])
        for owner, word in pairwise(tree):
            if self.plurals and word.tag == "POS" and owner.tag == "NN" and chance() < self.plural:
                owner.form, owner.lemma = self.random.choice(self.plurals)
                owner.tag, word.form = "NNS", "'"
        for word in tree:
            if len(word.form) > 4 and word.form.isalpha() and chance() < self.typo:
                word.form, word.lemma = self.misspell(word.form), ""
        if chance() < self.plain:
            self.simplify(tree, chance())
        return tree

    def simplify(self, tree: Tree, choice: float) -> None:
        """Lower-cases the sentence or its first word, or takes away its final mark, in place."""
        if choice < 0.7:
            for word in tree if choice < 0.4 else tree[:1]:
                word.form = word.form.lower()
                word.lemma = word.lemma.lower() if word.pos == "PROPN" else word.lemma
        elif len(tree) > 3 and tree[-1].tag == "." and all(word.head != len(tree) - 1 for word in tree):
            tree.pop()

    def misspell(self, form: str) -> str:
        """Swaps, drops or doubles a letter inside the word."""
        at = self.random.randrange(1, len(form) - 1)
        middle = self.random.choice([form[at + 1] + form[at], form[at + 1], form[at] * 2 + form[at + 1]])
        return form[:at] + middle + form[at + 2 :]


def replaceable(word: Word) -> bool:
    """Whether the word is a plain word of an open class."""
    return OPEN.get(word.tag) == word.pos and word.form.isalpha() and word.form.islower()
