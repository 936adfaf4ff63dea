"""The vote of several corrections of one sentence, edit by edit (Tarnavskyi et al., 2022)."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from geceval.edits.edit import Edit, in_order, overlap


def token_edits(source: str, text: str) -> list[Edit]:
    """The untyped edits between tokens by `difflib`, whose changes never touch, as in the published votes."""
    before, after = source.split(), text.split()
    blocks = SequenceMatcher(None, before, after).get_opcodes()
    return [Edit(start, end, " ".join(after[a:b])) for tag, start, end, a, b in blocks if tag != "equal"]


def voted_edits(source: str, texts: Sequence[str], min_count: int) -> list[Edit]:
    """The edits that at least so many of the texts make and that can be applied together."""
    # Of two that overlap, or touch where one is an insertion, the one that more texts make stays, then the one further
    # left, then the shorter one, then that of the earlier text. Edits of more than half of the texts are never such.
    votes = Counter[Edit]()
    for text, times in Counter(texts).items():
        votes.update(dict.fromkeys(token_edits(source, text), times))
    kept: list[Edit] = []
    for edit in sorted(votes, key=lambda edit: (-votes[edit], edit.start, edit.end)):
        if votes[edit] >= min_count and not any(_clash(edit, other) for other in kept):
            kept.append(edit)
    return in_order(kept)


def _clash(left: Edit, right: Edit) -> bool:
    insertion = left.start == left.end or right.start == right.end
    return overlap(left, right) or (insertion and left.start <= right.end and right.start <= left.end)
