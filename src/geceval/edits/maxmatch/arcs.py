"""Joining steps of the MaxMatch lattice into arcs, and the cheapest path over them."""

from collections.abc import Mapping

from geceval.edits.maxmatch.lattice import Arc, Purge, Steps, relax, walk_back, weight

# The official program closes the lattice like Floyd and Warshall over the cells in sorted order: two arcs are joined if
# that is strictly shorter than what is known and holds no more unchanged words than allowed. Every step leads to a
# later cell, so the second half of such a join is always a single step and the first half is final: one sweep over the
# cells finds the same arcs in the same order. (They are not the shortest *allowed* arcs: of the ways from one cell to
# another only the first of the shortest is kept, with its count of unchanged words.) Its shortest path is that of
# Bellman and Ford over the list of arcs, steps first; equal costs are decided by the order in which it meets them, so
# that order is kept.


class Arcs:
    """The steps of a lattice, joined to arcs of at most `max_unchanged_words` unchanged words; to none if negative."""

    def __init__(self, steps: Steps, max_unchanged_words: int) -> None:
        self.size = len(steps.rows)
        self.total = sum(arc[3] for arc in steps.arcs)
        self._arcs = {
            (v, w): Arc(1, 0 if unchanged else occurrences, steps.rows[v] == steps.rows[w])
            for v, w, unchanged, occurrences in steps.arcs
        }
        purge = Purge()
        for start, w, arc in self._sweep(steps, max_unchanged_words):
            if not purge.keeps(arc.penalties > 0):
                continue
            self.total += 1
            known = self._arcs.get((start, w))
            if known is not None:
                arc = arc._replace(penalties=known.penalties + 1)
            self._arcs[start, w] = arc
        self._weights = {pair: weight(arc.length, arc.penalties) for pair, arc in self._arcs.items()}

    def _sweep(self, steps: Steps, limit: int) -> list[tuple[int, int, Arc]]:
        following: list[list[tuple[int, int]]] = [[] for _ in range(self.size)]
        reached: list[dict[int, tuple[int, int, bool]]] = [{} for _ in range(self.size)]
        for v, w, same, _ in steps.arcs:
            following[v].append((w, same))
            reached[w][v] = (1, same, steps.rows[v] == steps.rows[w])
        joined: list[tuple[int, int]] = []
        for k in range(self.size):
            after = following[k]
            for start, (length, unchanged, inserts) in sorted(reached[k].items()):
                for w, same in after:
                    if unchanged + same > limit:
                        continue
                    known = reached[w].get(start)
                    if known is None or length + 1 < known[0]:
                        reached[w][start] = (length + 1, unchanged + same, inserts)
                        joined.append((start, w))
        arcs = []
        for start, w in joined:
            length, unchanged, inserts = reached[w][start]
            arcs.append((start, w, Arc(length, int(length > unchanged), inserts)))
        return arcs

    def find(self, start: int, end: int) -> Arc | None:
        """The arc from one cell to another, if there is one."""
        return self._arcs.get((start, end))

    def cheapest_path(self, weights: Mapping[tuple[int, int], float]) -> list[tuple[int, int]]:
        """The cheapest path from the first to the last cell, as arcs; `weights` replaces the weight of some arcs."""
        arcs = [(v, w, cost) for (v, w), cost in ({**self._weights, **weights} if weights else self._weights).items()]
        costs = [float("inf")] * self.size
        before = [-1] * self.size
        costs[0] = 0.0
        while relax(arcs, costs, before):
            pass
        return walk_back(before)
