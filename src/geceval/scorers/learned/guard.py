"""A guard for metrics that hardly read the source: the penalty of corrections that say something else."""

# A penalty, not a gate: whoever optimises a score stops at the edge of a gate and loses nothing.

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geceval.core.options import RunTime
from geceval.models.checkpoints import Checkpoint, resolve
from geceval.models.encoder import Encoder
from geceval.models.regressors import load_regressor
from geceval.scorers.learned.estimators import similarities
from geceval.text.projection import borders

GUARDS: TypeAlias = Literal["auto", "faithful", "surface", "strict", "off"]

LOWEST = -100.0
"""The penalty of a text without a letter or digit, beyond any other: it gets the lowest score of a metric."""

DECORATION = 2.0  # marks before a sentence please estimators; words do not show them
FOREIGN = 0.3  # share of trigrams
SHORTER = 0.85  # ratio of lengths
ESTIMATOR = "meaning"
DEFAULT = "faithful"


@dataclass(frozen=True, slots=True)
class Rule:
    """factor · max(ln .05, Σ ln min(1, x / knee)): x the share kept, the encoder's cosine, the lengths' ratio."""

    # The encoder, which takes nearly all the time, reads a text only if the share kept is at most `read_below`. Changes
    # of a few words and characters are granted: one word of four is a quarter, and no reason for a penalty.

    factor: float
    kept_knee: float
    cosine_knee: float
    length_knee: float
    keeps: Literal["trigrams", "words"]
    read_below: float
    characters: int = 0


RULES = {
    "surface": Rule(4, 0.7, 0.9, 0.85, "trigrams", read_below=0.85),
    "strict": Rule(8, 0.9, 0.9, 0.95, "words", read_below=0.99, characters=3),
}
_PART = 40  # words; two such parts have less than 128 tokens but for rare words
_FLOOR = math.log(0.05)  # of the sum, not of each term: or one outlier dominates a mean of thousands


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of penalties in log-odds on a metric's scores."""

    unit: float  # points of the score for one log-odd; with `on_logit` log-odds of the score
    lowest: float  # the score of a text without a letter or digit; no penalty leads below it
    on_logit: bool = False  # scores are probabilities, and penalties change their odds; 0 stays 0
    reward_range: tuple[float, float] | None = None  # of honest corrections, with a margin, for `geceval.reward`

    def on(self, scores: np.ndarray, penalties: np.ndarray) -> np.ndarray:
        """The scores less their penalties, float64 [rows]; a penalty of 0 changes no bit of a score."""
        if self.on_logit:
            odds = scores * np.exp(self.unit * penalties)
            lowered = odds / (odds + 1 - scores)
        else:
            lowered = np.maximum(scores + self.unit * penalties, self.lowest)
        lowered = np.minimum(np.where(penalties <= LOWEST, self.lowest, lowered), scores)
        return np.where(penalties < 0, lowered, scores)


def penalties(sources: Sequence[str], predictions: Sequence[str], guard: GUARDS, runtime: RunTime) -> np.ndarray:
    """The penalty of each prediction in log-odds, at most 0, and 0 for an unchanged source: float64 [rows]."""
    total = np.zeros(len(sources))
    pairs = list(zip(sources, predictions, strict=True))
    changed = [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
    guard = DEFAULT if guard == "auto" else guard
    if guard == "off" or not changed:
        return total
    lost = np.zeros(len(changed))
    if guard in RULES:
        lost += _by_rule(RULES[guard], changed, runtime)
    if guard in ("faithful", "strict"):
        lost += _by_estimator(changed, runtime)
    lost[[is_decorated(*pair) for pair in changed]] -= DECORATION
    lost[[has_words(source) and not has_words(prediction) for source, prediction in changed]] = LOWEST
    by_pair = dict(zip(changed, lost.tolist(), strict=True))
    return np.array([by_pair.get(pair, 0.0) for pair in pairs])


def certain(source: str, prediction: str) -> bool:
    """Whether `"surface"` penalises a prediction whatever the encoder says of it."""
    if source == prediction:
        return False
    rule = RULES["surface"]
    return kept_trigrams(source, prediction) < rule.kept_knee or length_ratio(source, prediction) < rule.length_knee


def models(guard: GUARDS, runtime: RunTime) -> list[str]:
    """The names, with their hashes, of the networks that a guard reads."""
    names = [_encoder(runtime).name] if guard in RULES else []
    if guard in ("faithful", "strict"):
        names.append(resolve(f"bundled:{ESTIMATOR}").identity)
    return names


def _by_rule(rule: Rule, pairs: Sequence[tuple[str, str]], runtime: RunTime) -> np.ndarray:
    keeps = kept_trigrams if rule.keeps == "trigrams" else kept_words
    kept = np.array([keeps(*pair) for pair in pairs])
    lengths = np.array([length_ratio(*pair, rule.characters) for pair in pairs])
    cosines = np.ones(len(pairs))
    read = np.flatnonzero(kept <= rule.read_below)
    if read.size:
        cosines[read] = similarities(_encoder(runtime), *zip(*(pairs[row] for row in read), strict=True), runtime)
    shares = (kept / rule.kept_knee, cosines / rule.cosine_knee, lengths / rule.length_knee)
    # NaN, the cosine of states that are all zero, counts as no likeness.
    logarithms = [np.log(np.clip(np.nan_to_num(share), 1e-9, 1)) for share in shares]
    return rule.factor * np.maximum(sum(logarithms), _FLOOR)


def _by_estimator(pairs: Sequence[tuple[str, str]], runtime: RunTime) -> np.ndarray:
    # Half of a system's corrections change no content word; reading them would take as long as the other half.
    checkpoint = resolve(f"bundled:{ESTIMATOR}")
    lost = np.zeros(len(pairs))
    rows = [row for row, pair in enumerate(pairs) if not keeps_content(*pair)]
    if rows:
        read = [pairs[row] for row in rows]
        logits = _logits(load_regressor(checkpoint, runtime), read, runtime)
        lost[rows] = estimated(logits, np.array([growth(*pair) for pair in read]), checkpoint)
    return lost


def _logits(reader: Encoder, pairs: Sequence[tuple[str, str]], runtime: RunTime) -> np.ndarray:
    """The estimator's logit of each pair; of a pair that is too long, the lowest logit of its parts."""
    long = reader.too_long(pairs)
    split = [aligned(*pair) if row in long else [pair] for row, pair in enumerate(pairs)]
    logits = iter(reader.logits([part for parts in split for part in parts], runtime)[:, 0].astype(np.float64))
    return np.array([min(next(logits) for _ in parts) for parts in split])


def estimated(logits: np.ndarray, growths: np.ndarray, checkpoint: Checkpoint) -> np.ndarray:
    """Penalties from the logits of the faithfulness estimator and the lengths of predictions by those of sources."""
    # No penalty in a dead zone, then a slope to a floor. Lengths count, too: token means hardly show that a text is
    # repeated, a search finds words that the estimator does not miss, and people seldom shorten by much.
    names = ("slope", "dead_zone", "floor", "length_factor", "shorter_knee", "longer_knee")
    slope, dead_zone, floor, factor, shorter, longer = (checkpoint.setting(f"guard_{name}") for name in names)
    lost = slope * np.maximum(0.0, -np.nan_to_num(logits, nan=-np.inf) - dead_zone)
    lost += factor * np.maximum(0.0, np.log(np.maximum(shorter / np.maximum(growths, 1e-9), longer * growths)))
    return -np.minimum(slope * floor, lost)


def _encoder(runtime: RunTime) -> Encoder:
    return Encoder.load(resolve("bundled"), runtime)


# --- What two texts share --------------------------------------------------------------------------------------------


def visible(text: str) -> str:
    """A text as a reader sees it: white space single, without hidden characters."""
    if not text.isascii():
        text = "".join(char for char in text if unicodedata.category(char) != "Cf" and char not in _BLANK)
    return " ".join(text.split())


_BLANK = "\u034f\u115f\u1160\u2800\u3164\ufe0f\uffa0"  # not of the category of hidden characters
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»‹›‘’'`", '"'))


def is_decorated(source: str, prediction: str) -> bool:
    """Whether a prediction begins with marks, as of a quotation or a list, that its source has nowhere."""
    source, prediction = source.translate(_QUOTES), prediction.translate(_QUOTES)
    marks = re.match(r"[\W_]*", prediction).group()
    return any(mark not in source for mark in marks if not mark.isspace() and mark not in "$€£")


def aligned(source: str, prediction: str) -> list[tuple[str, str]]:
    """Two texts in parts of as many source words as an estimator can read, without the equal parts."""
    before, after = source.split(), prediction.split()
    places = borders(before, after)
    starts = {0: 0, len(before): len(after)} | {place: places[place] for place in range(_PART, len(before), _PART)}
    parts = [
        (" ".join(before[start:end]), " ".join(after[starts[start] : starts[end]]))
        for start, end in itertools.pairwise(sorted(starts))
    ]
    return [part for part in parts if part[0] != part[1]]


def has_words(text: str) -> bool:
    """Whether a text has a letter or digit."""
    return any(map(str.isalnum, text))


def kept_trigrams(source: str, prediction: str) -> float:
    """Share of the longer text's character trigrams that both have, one added to either count: in (0, 1]."""
    left, right = _trigrams(source), _trigrams(prediction)
    return ((left & right).total() + 1) / (max(left.total(), right.total()) + 1)


def _trigrams(text: str) -> Counter[str]:
    """Character trigrams of a text in lower case, its white space single, with a space at both ends."""
    text = f" {' '.join(text.lower().split())} "
    return Counter(text[start : start + 3] for start in range(len(text) - 2))


def kept_words(source: str, prediction: str) -> float:
    """Share of the longer text's words that both have, two words granted: in [0, 1]."""
    left, right = Counter(words(source)), Counter(words(prediction))
    return min(1.0, ((left & right).total() + 2) / max(left.total(), right.total(), 1))


_FUNCTION_WORDS = frozenset(
    "a an the of in on at to for from by with into about as that which am is are was were be been being 's "  # noqa: SIM905
    "has have had do does did will would can could and or so then than there also".split()
)


def keeps_content(source: str, prediction: str) -> bool:
    """Whether two texts have the same content words in the same order, whatever their forms, and are as long."""
    # A form is whatever follows the third letter; negations, pronouns and numbers are content.
    left, right = ([word[:3] for word in words(text) if word not in _FUNCTION_WORDS] for text in (source, prediction))
    return left == right and length_ratio(source, prediction) >= SHORTER


def length_ratio(source: str, prediction: str, granted: int = 0) -> float:
    """The shorter text's characters, plus `granted`, by the longer's, white space not counted: in [0, 1]."""
    shorter, longer = sorted(map(_characters, (source, prediction)))
    return min(1.0, (shorter + granted) / longer) if longer else 1.0


def growth(source: str, prediction: str) -> float:
    """A prediction's characters by its source's, white space and a difference of a few characters not counted."""
    before, after = map(_characters, (source, prediction))
    return max(after - _FEW_CHARACTERS, min(before, after + _FEW_CHARACTERS)) / max(before, 1)


_FEW_CHARACTERS = 3


def _characters(text: str) -> int:
    return len("".join(text.split()))


_WORD = re.compile(r"n't|\d+(?:[.,:]\d+)*|[^\W\d_]+?(?=n't\b)|\w+")


def words(text: str) -> list[str]:
    """The words of a text in lower case, numbers in one piece; `n't` is a word."""
    return _WORD.findall(text.lower().replace("\u2019", "'"))


# --- Why -------------------------------------------------------------------------------------------------------------

_NEGATIONS = frozenset("not n't no never nobody nothing none nor neither nowhere cannot without".split())  # noqa: SIM905
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_END = re.compile(r"[.!?\u2026]+(?=\W*(?:\s|$))")
_FEW = 3  # words lost or new, of which a negation is the reason to name


def reasons(source: str, prediction: str) -> str:
    """Why a prediction may not say what its source says, as a clause about it; `""` for equal texts."""
    if source == prediction:
        return ""
    if not has_words(prediction):
        return "leaves nothing of the sentence"
    before, after = words(source), words(prediction)
    left, right = Counter(before), Counter(after)
    kept = (left & right).total()
    lost, new = len(before) - kept, len(after) - kept
    if len(before) > 1 and ((left + left) & right).total() >= 1.6 * len(before):
        return "repeats the sentence"
    if max(lost, new) <= max(_FEW, min(0.3 * len(before), 2 * _FEW)) and (changed := _changed(before, after)):
        return changed
    if lost > 3 * new:
        return _dropped(lost - new, len(before))
    if new > 3 * lost:
        longer = len(_END.findall(prediction)) > max(1, len(_END.findall(source)))
        return "adds a sentence" if longer else f"adds {_counted(new - lost)}"
    if kept_trigrams(source, prediction) < FOREIGN:
        return "says something else"
    if is_decorated(source, prediction):
        return "begins with other marks"
    return "rewrites it" if kept < 0.7 * max(len(before), len(after)) else "may change the meaning"


def summary(given: Sequence[str], most: int = 3) -> str:
    """How many sentences have a reason, and the commonest ones: `5 of 44 (says something else 3, negates it 2)`."""
    counts = Counter(filter(None, given)).most_common()
    rest = sum(count for _, count in counts[most:])
    shown = [f"{reason} {count}" for reason, count in counts[:most]] + [f"other {rest}"] * bool(rest)
    return f"{sum(map(bool, given))} of {len(given)} ({', '.join(shown)})"


def _changed(before: Sequence[str], after: Sequence[str]) -> str:
    """Negations and numbers that only one of two texts has."""
    no, still_no = (sum(word in _NEGATIONS for word in side) for side in (before, after))
    if no != still_no:
        return "negates it" if still_no > no else "drops a negation"
    return "changes a number" if _numbers(before) != _numbers(after) else ""


def _numbers(side: Sequence[str]) -> Counter[str]:
    numbers = {word: str(value) for value, word in enumerate(_NUMBERS)}
    return Counter(numbers.get(word, word) for word in side if word in numbers or word[0].isdigit())


def _dropped(count: int, of: int) -> str:
    if count >= 0.7 * of:
        return "drops most of the sentence"
    return "drops half of the sentence" if count >= 0.4 * of else f"drops {_counted(count)}"


def _counted(number: int) -> str:
    return "a word" if number == 1 else f"{number} words"
