"""The impact of each edit on the meaning of a correction (IMPARA); public as `geceval.edit_impacts`.

The contribution of an edit to the score of a metric is in `geceval.workflows.attribution`.
"""

from collections.abc import Sequence
from typing import Any

from geceval.core.errors import InputError, InputTypeError, counted, naming_the_extra
from geceval.core.inputs import check_columns
from geceval.core.options import RunTime, runtime_or_default
from geceval.edits.edit import Edit
from geceval.scorers.learned.impara_impact import cosine_impacts
from geceval.text.columns import as_tokens

IMPACT_LENGTH = 512


@naming_the_extra("edit_impacts")
def edit_impacts(
    sources: Sequence[str],
    corrections: Sequence[str],
    *,
    edits: Sequence[Sequence[Edit]] | None = None,
    model: str = "bundled",
    nlp: Any = "bundled",
    runtime: RunTime | None = None,
) -> list[list[tuple[Edit, float]]]:
    """The impact of each edit: how much the encoding of the sentence changes without it (IMPARA, Eq. 5).

    Args:
        sources: What the learner wrote, one string per sentence.
        corrections: The corrected sentences T. Prose is tokenised, see `geceval.text.columns.as_tokens`.
        edits: The edits of each sentence; `None` extracts them with ERRANT. With `edits`, T is the source with all of
            its edits applied, and only the number of the corrections is checked.
        model: The encoder: `"bundled"`, a folder, or a Hub id, optionally with `@revision`.
        nlp: spaCy pipeline for ERRANT, see `geceval.edits.errant.annotator.get_annotator`.
        runtime: Batch size, device, dtype, progress, workers.

    Returns:
        One list per sentence: its edits in their order, each with its impact in [0, 2]. Impacts compare edits of one
        sentence: the longer a sentence, the smaller they are. Their sum is the impact of the whole correction (Eq. 6).

    Raises:
        TypeError: If a column or a row has the wrong type.
        ValueError: If columns are empty or of unequal length, edits overlap or lie beyond their source, or the
            checkpoint or the pipeline cannot be used.
    """
    from geceval.models.checkpoints import resolve
    from geceval.models.encoder import Encoder
    from geceval.models.loading import readable_length

    runtime = runtime_or_default("impacts", runtime)
    columns = check_columns("impacts", sources, corrections)
    if edits is None:
        from geceval.edits.errant.annotator import get_annotator

        columns = as_tokens(columns)
        pairs = list(zip(columns.sources, columns.predictions, strict=True))
        edits = get_annotator(nlp).edits(pairs, runtime.workers, runtime.progress, runtime.cache)
    else:
        _check_edits(edits, len(columns.sources))
    checkpoint = resolve(model)
    encoder = Encoder.load(checkpoint, runtime, readable_length(checkpoint, IMPACT_LENGTH))
    rows = list(zip(columns.sources, edits, strict=True))
    impacts = cosine_impacts(rows, lambda texts: encoder.embed(texts, runtime))
    return [list(zip(row, values, strict=True)) for row, values in zip(edits, impacts, strict=True)]


def _check_edits(edits: Any, sentences: int) -> None:
    if not isinstance(edits, Sequence):
        raise InputTypeError(f"impacts: edits must be a list with one list of Edits per sentence, got {edits!r}")
    if len(edits) != sentences:
        raise InputError(
            f"impacts: {counted(len(edits), 'list')} of edits but {counted(sentences, 'source')}; pass one a sentence"
        )
    for row, group in enumerate(edits):
        if not isinstance(group, Sequence) or not all(isinstance(edit, Edit) for edit in group):
            raise InputTypeError(f"impacts: edits[{row}] must be a list of Edits, got {group!r}")
