"""Texts that do not say what a sentence says, made of it by rule: what estimators learn to rank below corrections.

Sentences are tokenised. What is put in comes from the other sentences of a corpus, or from the lists below, which leave
out the wordings that `geceval attack` tries (`KEPT_OUT`), as antonyms, pronouns, tenses, two words swapped, look-alikes
of letters and orders to a judge are left out: how well an estimator finds those shows what it has understood.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

Tokens = list[str]


def _items(text: str) -> list[str]:
    return text.split("|")


KEPT_OUT = frozenset(
    _items(
        "i think that|of course|in fact|as you know|it is clear that|there is no doubt that|first of all"
        "|on the other hand|that is true|this is very important|thank you|i am sure of it|it was a good day"
        "|many people agree with this|that is why i like it|i hope to hear from you soon|the weather is mild"
    )
)
_OPENINGS = _items(
    "To be honest ,|In my opinion ,|Everybody knows that|Generally speaking ,|It goes without saying that|Actually ,"
    "|Honestly ,|As far as I know ,|I am sure that|We all know that|By the way ,|Needless to say ,|To tell the truth ,"
    "|As a matter of fact ,|Moreover ,|Nevertheless ,|Luckily ,|What is more ,|It seems that|People say that"
    "|My teacher said that|I have heard that|Maybe|In general ,|As I said before ,|It is a pity that"
)
_ENDINGS = _items(
    ", I guess|, as everybody knows|, and so on|, in my opinion|, to be honest|, if you ask me|, you know|, for sure"
    "|, more or less|, and that is all|, which is great|, as usual|, as far as I know|, without any doubt"
)
_ANSWERS = _items(
    "Yes .|No .|I agree .|It is good .|This is a sentence .|Everything is fine .|I like it .|There are many reasons ."
    "|It is a nice day .|He is happy .|We will see .|That sounds good .|She went home .|Life is beautiful ."
)
_AUXILIARIES = frozenset(
    _items("am|is|are|was|were|be|been|has|have|had|do|does|did|can|could|will|would|should|may|might|must|shall")
)
_NEGATIONS = frozenset(_items("not|n't|never|no|nobody|nothing|without"))
_NUMBERS = _items("two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|thousand")
_OTHER_FUNCTION_WORDS = (
    "a|an|the|this|that|these|those|there|here|it|its|he|him|his|she|her|hers|we|us|our|ours|you|your|yours|they|them"
    "|their|theirs|i|me|my|mine|who|whom|whose|which|what|when|where|why|how|and|or|but|so|if|because|although|though"
    "|while|since|as|than|then|of|in|on|at|by|for|with|from|to|into|onto|about|over|under|after|before|between|during"
    "|through|up|down|out|off|again|also|too|very|really|quite|just|only|even|still|already|yet|all|any|some|each"
    "|every|both|either|neither|one|ones|other|others|another|such|own|same|more|most|much|many|few|less|least|lot|lots"
    "|being|having|doing|done|get|got|make|made|let|'s|'m|'re|'ve|'ll|'d|ca|wo"
)
_FUNCTION_WORDS = _AUXILIARIES | _NEGATIONS | frozenset(_items(_OTHER_FUNCTION_WORDS))
_CLAUSE = re.compile(r" , | (?:and|but|because|so|which|who|when|if|although|while|that|where) ")
_END = (".", "!", "?")


class Corpus:
    """The sentences of which others are made, and the words, names, phrases and neighbours that they provide."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.sentences = [text for text in dict.fromkeys(" ".join(text.split()) for text in sentences) if text]
        self.words: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by the shape of the word
        self.names: Counter[str] = Counter()
        self.openings, self.endings = list(_OPENINGS), list(_ENDINGS)
        for text in self.sentences:
            self._read(text.split())
        self._neighbours: Mapping[str, list[str]] | None = None
        self._drawn = {shape: (list(words), list(words.values())) for shape, words in self.words.items()}

    def _read(self, tokens: Tokens) -> None:
        for index, token in enumerate(tokens):
            if is_name(tokens, index):
                self.names[token] += 1
            elif is_content(token):
                self.words[_shape(token)][token] += 1
        marks = [index for index, token in enumerate(tokens) if token == ","]
        if marks and 1 <= marks[0] <= 5 and not is_kept_out(tokens[: marks[0]]):
            self.openings.append(" ".join(tokens[: marks[0] + 1]))
        if marks and 2 <= len(tokens) - 1 - marks[-1] <= 6 and tokens[-1] in _END and marks[-1] > 5:
            self.endings.append(" ".join(tokens[marks[-1] : -1]))

    def like(self, word: str, rng: random.Random) -> str:
        """Another word of the same shape, drawn as often as it occurs."""
        words, counts = self._drawn.get(_shape(word), ([], []))
        return rng.choices(words, counts)[0] if words else word

    def other(self, text: str, rng: random.Random) -> str:
        """Another sentence."""
        return rng.choice([sentence for sentence in rng.sample(self.sentences, 2) if sentence != text])

    def near(self, text: str) -> list[str]:
        """The sentences that share most words with a sentence of the corpus, weighted by rarity; [] for others."""
        if self._neighbours is None:
            self._neighbours = neighbours(self.sentences)
        return self._neighbours.get(text, [])


def neighbours(sentences: Sequence[str], count: int = 5, block: int = 1000) -> dict[str, list[str]]:
    """The nearest other sentences of each by the cosine of words weighted by inverse document frequency."""
    from scipy.sparse import csr_matrix

    numbers: dict[str, int] = {}
    rows = [sorted({numbers.setdefault(word, len(numbers)) for word in text.lower().split()}) for text in sentences]
    frequency = np.bincount(np.concatenate(rows), minlength=len(numbers))
    weights = np.log(len(rows) / frequency)
    weights[frequency > max(20, len(rows) // 50)] = 0.0  # words of many sentences say little and cost most
    lengths = [max(float(np.sqrt(np.square(weights[row]).sum())), 1e-9) for row in rows]
    values = np.concatenate([weights[row] / length for row, length in zip(rows, lengths, strict=True)])
    matrix = csr_matrix((values, np.concatenate(rows), np.cumsum([0, *map(len, rows)])), (len(rows), len(numbers)))
    matrix.eliminate_zeros()
    nearest = {}
    for start in range(0, len(rows), block):
        cosines = (matrix[start : start + block] @ matrix.T).tocsr()
        for row, (first, last) in enumerate(itertools.pairwise(cosines.indptr), start):
            columns, cells = cosines.indices[first:last], cosines.data[first:last]
            order = columns[np.lexsort((columns, -cells))][: count + 1]
            nearest[sentences[row]] = [sentences[column] for column in order if column != row][:count]
    return nearest


def is_kept_out(tokens: Sequence[str]) -> bool:
    """Whether these words are a wording that no estimator is trained on."""
    return " ".join(token.lower() for token in tokens if token not in (",", *_END)) in KEPT_OUT


def is_content(token: str) -> bool:
    """Whether a token is a word that carries meaning by itself."""
    return len(token) > 2 and token.isalpha() and token.lower() not in _FUNCTION_WORDS


def is_name(tokens: Sequence[str], index: int) -> bool:
    """Whether a token is a name, as its capital within a sentence says."""
    token = tokens[index]
    return index > 0 and tokens[index - 1] not in (*_END, '"', ":") and is_content(token) and token[0].isupper()


def _shape(word: str) -> str:
    ends = ("ing", "ed", "ly", "tion", "s")
    ending = next((end for end in ends if word.lower().endswith(end) and len(word) > len(end) + 2), "")
    return ("A" if word[0].isupper() else "a") + ending


# --- Kinds: another text of the tokens of a sentence, or nothing where a kind does not apply --------------------------


def other_sentence(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Any other sentence."""
    return corpus.other(" ".join(tokens), rng).split()


def near_sentence(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """A sentence that shares rare words."""
    near = corpus.near(" ".join(tokens))
    return rng.choice(near).split() if near else []


def short_answer(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """A short sentence that answers anything."""
    return rng.choice(_ANSWERS).split()


def content_dropped(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Without one to three of its content words."""
    places = [index for index, token in enumerate(tokens) if is_content(token)]
    lost = set(rng.sample(places, min(len(places), rng.choice((1, 1, 1, 2, 3)))))
    return [token for index, token in enumerate(tokens) if index not in lost]


def any_dropped(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Without a fifth to a half of its tokens."""
    share = rng.uniform(0.2, 0.5)
    lost = set(rng.sample(range(len(tokens)), max(2, int(share * len(tokens))))) if len(tokens) > 4 else set()
    return [token for index, token in enumerate(tokens) if index not in lost]


def span_dropped(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Without three to six words in a row."""
    size = rng.randint(3, 6)
    if len(tokens) < size + 4:
        return []
    start = rng.randint(0, len(tokens) - 1 - size)
    return tokens[:start] + tokens[start + size :]


def tail_cut(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """The beginning of it, with the mark at its end or without."""
    if len(tokens) < 7:
        return []
    kept = tokens[: max(3, int(rng.uniform(0.25, 0.85) * len(tokens)))]
    return [*kept, *([tokens[-1]] if tokens[-1] in _END and rng.random() < 0.7 else [])]


def head_cut(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """The end of it."""
    if len(tokens) < 7:
        return []
    kept = tokens[max(2, int(rng.uniform(0.15, 0.75) * len(tokens))) :]
    return [kept[0].capitalize(), *kept[1:]]


def clause(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Half of it in good English: cut at a comma or a conjunction."""
    text = " ".join(tokens)
    cuts = [
        cut for cut in _CLAUSE.finditer(text) if min(text.count(" ", 0, cut.start()), text.count(" ", cut.end())) > 2
    ]
    if not cuts:
        return []
    cut = rng.choice(cuts)
    end = tokens[-1] if tokens[-1] in _END else "."
    first = [*text[: cut.start()].split(), end]
    second = text[cut.end() :].split()
    return first if rng.random() < 0.6 else [second[0].capitalize(), *second[1:]]


def word_exchanged(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """One or two content words are others of the corpus."""
    places = [index for index, token in enumerate(tokens) if is_content(token) and not is_name(tokens, index)]
    made = list(tokens)
    for index in rng.sample(places, min(len(places), rng.choice((1, 1, 1, 2)))):
        made[index] = corpus.like(tokens[index], rng)
    return made


def name_changed(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """A name is another one."""
    places = [index for index in range(len(tokens)) if is_name(tokens, index)]
    if not places:
        return []
    made = list(tokens)
    made[rng.choice(places)] = rng.choices(list(corpus.names), corpus.names.values())[0]
    return made


def number_changed(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """A number is another one."""
    places = [index for index, token in enumerate(tokens) if token.isdigit() or token.lower() in _NUMBERS]
    if not places:
        return []
    index = rng.choice(places)
    token = tokens[index].lower()
    digits = str(rng.randint(10 ** (len(token) - 1), 10 ** len(token) - 1)) if token.isdigit() else ""
    return [*tokens[:index], digits or rng.choice(_NUMBERS), *tokens[index + 1 :]]


def negated(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """With a "not" more, or less."""
    nots = [index for index, token in enumerate(tokens) if token.lower() in ("not", "n't", "never")]
    if nots and rng.random() < 0.7:
        index = rng.choice(nots)
        return tokens[:index] + tokens[index + 1 :]
    places = [i for i, token in enumerate(tokens) if token.lower() in _AUXILIARIES and i + 1 not in nots]
    if not places:
        return []
    index = rng.choice(places) + 1
    return [*tokens[:index], rng.choice(("not", "not", "not", "n't", "never")), *tokens[index:]]


def filler_before(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """After a phrase that says nothing, or that begins another sentence."""
    filler = rng.choice(corpus.openings if rng.random() < 0.6 else _OPENINGS).split()
    lowered = tokens[0] if tokens[0] == "I" or rng.random() < 0.2 else tokens[0].lower()
    return [*filler, lowered, *tokens[1:]]


def filler_after(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Before a phrase that says nothing, or that ends another sentence."""
    filler = rng.choice(corpus.endings if rng.random() < 0.6 else _ENDINGS).split()
    return [*tokens[:-1], *filler, tokens[-1]] if tokens[-1] in _END else [*tokens, *filler]


def phrase_added(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """With some words of another sentence in it."""
    other = corpus.other(" ".join(tokens), rng).split()
    size = rng.randint(2, 5)
    start = rng.randint(0, max(0, len(other) - 1 - size))
    index = rng.randint(1, max(1, len(tokens) - 1))
    return [*tokens[:index], *other[start : start + size], *tokens[index:]]


def sentence_added(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Before or after another sentence."""
    text = " ".join(tokens)
    near = corpus.near(text)
    other = (rng.choice(near) if near and rng.random() < 0.3 else corpus.other(text, rng)).split()
    other = rng.choice(_ANSWERS).split() if rng.random() < 0.2 else other
    return [*tokens, *other] if rng.random() < 0.6 else [*other, *tokens]


def doubled(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """Twice."""
    return tokens + tokens


def words_repeated(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """With two to six words of it twice."""
    size = rng.randint(2, 6)
    if len(tokens) < size + 2:
        return []
    start = rng.randint(0, len(tokens) - 1 - size)
    again = rng.choice((start + size, len(tokens) - 1))
    return [*tokens[:again], *tokens[start : start + size], *tokens[again:]]


def commas_added(tokens: Tokens, corpus: Corpus, rng: random.Random) -> Tokens:
    """With two to four stray commas."""
    places = [i for i in range(1, len(tokens)) if tokens[i - 1].isalnum() and tokens[i].isalnum()]
    chosen = set(rng.sample(places, min(len(places), rng.randint(2, 4))))
    if len(chosen) < 2:
        return []
    return [part for i, token in enumerate(tokens) for part in ((",", token) if i in chosen else (token,))]


Kind = Callable[[Tokens, Corpus, random.Random], Tokens]

KINDS: dict[str, tuple[Kind, float]] = {
    kind.__name__: (kind, weight)
    for kind, weight in (
        (other_sentence, 0.5),
        (near_sentence, 1.0),
        (short_answer, 0.3),
        (content_dropped, 2.0),
        (any_dropped, 1.0),
        (span_dropped, 1.0),
        (tail_cut, 1.0),
        (head_cut, 0.7),
        (clause, 1.3),
        (word_exchanged, 3.0),
        (name_changed, 3.0),
        (number_changed, 5.0),
        (negated, 2.5),
        (filler_before, 2.0),
        (filler_after, 1.0),
        (phrase_added, 1.0),
        (sentence_added, 1.0),
        (doubled, 0.5),
        (words_repeated, 0.7),
        (commas_added, 1.0),
    )
}
"""Kinds by name, and how often each is drawn."""


def make(kind: str, text: str, corpus: Corpus, rng: random.Random) -> str | None:
    """A text of one kind; nothing where it does not apply, changes nothing, or says what is kept out."""
    tokens = text.split()
    made = KINDS[kind][0](tokens, corpus, rng) if len(tokens) > 1 else []
    if not made or [token.lower() for token in made] == [token.lower() for token in tokens] or is_kept_out(made):
        return None
    return " ".join(made)


def draw(text: str, corpus: Corpus, rng: random.Random) -> tuple[str, str] | None:
    """A kind, drawn by its weight from those that apply, and the text; nothing for texts that allow of none."""
    weights = {kind: weight for kind, (_, weight) in KINDS.items()}
    while weights:
        kind = rng.choices(list(weights), weights.values())[0]
        made = make(kind, text, corpus, rng)
        if made is not None:
            return kind, made
        del weights[kind]
    return None
