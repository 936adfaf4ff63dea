"""MaxMatch as it is defined, step by step and without any speed: what the fast lattice is compared with.

Arcs are written as the definition has them: (operation, start, end, source text, target text, unchanged words), in a
list with repetitions, keyed by their two cells; the closure runs over all triples of cells, and the shortest path is
Bellman and Ford's over the list.
"""

import math

EPSILON = 0.001


def slow_maxmatch(source, target, golds, max_unchanged=2, version="head"):
    """The edits (start, end, source text, target text), the number of matches.

    `golds` is a list of (start, end, [corrections]).
    """
    source, target = source.split(), target.split()
    listed, arcs = [], {}
    for substitution in (1, 2):
        for pair, arc in optimal_steps(source, target, substitution, version).items():
            listed.append(pair)
            assert arcs.get(pair, arc) == arc
            arcs[pair] = arc
    listed.sort()
    lengths = dict.fromkeys(arcs, 1)
    close(listed, arcs, lengths, max_unchanged)
    golds = [(start, end, " ".join(source[start:end]), corrections) for start, end, corrections in golds]
    costs = weigh(listed, arcs, lengths, golds)
    edits = shortest_path(listed, arcs, costs, (len(source), len(target)))
    return edits, count_matches(edits, golds)


def optimal_steps(source, target, substitution, version):
    """The steps on any optimal path of one table."""
    n, m = len(source), len(target)
    table = {(0, 0): 0}
    origins = {(0, 0): []}
    for i in range(n + 1):
        for j in range(m + 1):
            ways = []
            if i and j:
                same = source[i - 1] == target[j - 1]
                kind = ("noop" if same else "sub", i - 1, i, source[i - 1], target[j - 1], int(same))
                ways.append((table[i - 1, j - 1] + (0 if same else substitution), (i - 1, j - 1), kind))
            if i:
                ways.append((table[i - 1, j] + 1, (i - 1, j), ("del", i - 1, i, source[i - 1], "", 0)))
            if j:
                place = j - 1 if i == 0 and version == "v3.2" else i
                ways.append((table[i, j - 1] + 1, (i, j - 1), ("ins", place, place, "", target[j - 1], 0)))
            if ways:
                table[i, j] = min(cost for cost, _, _ in ways)
                origins[i, j] = [(origin, arc) for cost, origin, arc in ways if cost == table[i, j]]
    steps, waiting, seen = {}, [(n, m)], set()
    while waiting:
        cell = waiting.pop(0)
        if cell in seen:
            continue
        seen.add(cell)
        for origin, arc in origins[cell]:
            steps[origin, cell] = arc
            waiting.append(origin)
    return steps


def close(listed, arcs, lengths, max_unchanged):
    cells = sorted({cell for pair in listed for cell in pair})
    for k in cells:
        for i in cells:
            for j in cells:
                length = lengths.get((i, k), math.inf) + lengths.get((k, j), math.inf)
                if length < lengths.get((i, j), math.inf):
                    arc = joined(arcs[i, k], arcs[k, j])
                    if arc[5] <= max_unchanged:
                        listed.append((i, j))
                        arcs[i, j] = arc
                        lengths[i, j] = length
    for pair in listed:  # deletes from the list that is walked, as the original does
        if arcs[pair][0] == "noop" and lengths[pair] > 1:
            listed.remove(pair)


def joined(first, second):
    kinds = {first[0], second[0]}
    kind = kinds.pop() if len(kinds) == 1 else "sub"
    texts = [" ".join(text for text in pair if text) for pair in zip(first[3:5], second[3:5], strict=True)]
    return (kind, first[1], second[2], *texts, first[5] + second[5])


def weigh(listed, arcs, lengths, golds):
    costs = dict(lengths)
    spans = {}
    for pair in listed:
        spans.setdefault(arcs[pair][1:3], []).append(pair)
    for span, pairs in spans.items():
        here = [gold for gold in golds if gold[:2] == span]
        pairs.sort()
        if span[0] == span[1]:
            weigh_insertions(pairs, arcs, costs, here, -len(listed))
            continue
        for pair in pairs:
            if any(matches(arcs[pair], gold) for gold in here):
                costs[pair] = -len(listed)
            elif arcs[pair][0] != "noop":
                costs[pair] += EPSILON
    return costs


def weigh_insertions(pairs, arcs, costs, golds, reward):
    left, right, current = 0, len(pairs) - 1, 0
    gold_left, gold_right = 0, len(golds) - 1
    while left <= right:
        pair = pairs[current]
        at_left = current == left
        numbers = list(range(gold_left, gold_right + 1))
        for number in numbers if at_left else reversed(numbers):
            if matches(arcs[pair], golds[number]):
                costs[pair] = reward
                if at_left:
                    gold_left = number + 1
                    left += 1
                    while left < len(pairs) and pairs[left][0] != pair[1]:
                        costs[pairs[left]] += EPSILON
                        left += 1
                    current = left
                else:
                    gold_right = number - 1
                    right -= 1
                    while right >= 0 and pairs[right][1] != pair[0]:
                        costs[pairs[right]] += EPSILON
                        right -= 1
                    current = right
                break
        else:
            costs[pair] += EPSILON
            if at_left:
                left += 1
                current = right
            else:
                right -= 1
                current = left


def matches(arc, gold):
    return arc[1] == gold[0] and arc[2] == gold[1] and arc[3] == gold[2] and arc[4] in gold[3]


def shortest_path(listed, arcs, costs, last):
    distance, before = {(0, 0): 0}, {}
    for _ in range(len({cell for pair in listed for cell in pair})):
        for start, end in listed:
            cost = distance.get(start, math.inf) + costs[start, end]
            if cost < distance.get(end, math.inf):
                distance[end], before[end] = cost, start
    edits, cell = [], last
    while cell in before:
        arc = arcs[before[cell], cell]
        if arc[0] != "noop":
            edits.append(arc[1:5])
        cell = before[cell]
    return edits[::-1]


def count_matches(edits, golds):
    count = resume = 0
    for edit in edits:
        for number in range(resume, len(golds)):
            if matches(("", *edit), golds[number]):
                count += 1
                resume = number + 1
    return count
