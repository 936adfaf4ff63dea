"""What alignments of ERRANT and ChERRANT share: common endings, and spans that are transpositions of each other."""

from collections.abc import Hashable, Sequence


def common_ending(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """The number of items that two lists share at their end."""
    size = 0
    for a, b in zip(reversed(left), reversed(right), strict=False):
        if a != b:
            break
        size += 1
    return size


def first_indices(tokens: Sequence[Hashable], text: Sequence[Hashable], absent: int) -> list[int]:
    """The index of each token's first occurrence in a text, or `absent`."""
    first = {token: index for index, token in reversed(list(enumerate(text)))}
    return [first.get(token, absent) for token in tokens]


def transposed(
    i: int, j: int, cost_rows: list[list[float]], source: Sequence[Hashable], corrected: Sequence[Hashable]
) -> int:
    """Size, less one, of the smallest transposition that ends in source token `i` and corrected token `j`, or 0."""
    # The walk up the diagonal stops at a step that costs nothing, as ERRANT's does.
    balance: dict[Hashable, int] = {}
    for k in range(min(i, j) + 1):
        if k and cost_rows[i - k + 1][j - k + 1] == cost_rows[i - k][j - k]:
            return 0
        for token, step in ((source[i - k], 1), (corrected[j - k], -1)):
            balance[token] = balance.get(token, 0) + step
            if not balance[token]:
                del balance[token]
        if k and not balance:
            return k
    return 0
