"""Sentences to try the page with; all of them were made up for it."""

SCORE = [
    [
        "She have lived in Lisbon since three years.",
        "She has lived in Lisbon for three years.",
        "She has lived in Lisbon for three years.\nShe has been living in Lisbon for three years.",
    ],
    [
        "Him and me was late because the train were cancel.",
        "He and I was late because the train was cancelled.",
        "He and I were late because the train was cancelled.",
    ],
    [
        "The soup was cold, so we send it back.",
        "The soup was cold, so we send it back.",
        "The soup was cold, so we sent it back.",
    ],
    [
        "I enjoy to read at night.",
        "Reading novels after sunset is among my greatest joys.",
        "I enjoy reading at night.",
    ],
    ["My sister have two cats.", "My brother has two dogs.", "My sister has two cats."],
    [
        "I wanted make a photo of castle with my new phone.",
        "I wanted to take a photo of the castle with my new phone.",
        "I wanted to take a photo of the castle with my new phone.",
    ],
    [
        "The bakery opens at seven.",
        "The bakery opens at seven.",
        "The bakery opens at seven.",
    ],
]
"""Source, correction, references: good, partial, unchanged, over-corrected, another meaning, fluent, nothing to do."""

IMPACTS = [
    [
        "Him and me was late because the train were cancel.",
        "He and I were late because the train was cancelled.",
        "He and I were late because the train was cancelled.",
    ],
    [
        "My sister have two cats which sleeps the whole day on sofa.",
        "My brother has two cats which sleep the whole day on the sofa.",
        "My sister has two cats which sleep the whole day on the sofa.",
    ],
    [
        "We was very tired , because of we walked all the morning .",
        "We were very tired because we walked all morning .",
        "We were very tired because we had walked all morning .",
    ],
]
"""Source, correction, references."""

DETECT = [
    ["Him and me was late because the train were cancel."],
    ["I has never saw such a beautiful garden like this."],
    ["The bakery on the corner opens at seven, even on Sundays."],
    ["Despite of the rain, we enjoyed very much the concert."],
]
"""A sentence, or several, one a line."""

CHUNKS = [
    [
        "Him and me was late because the train were cancel.",
        "He and I was late because the train is cancelled.",
        "He and I were late because the train was cancelled.\nHe and I were late because they had cancelled the train.",
    ],
    [
        "She have lived in Lisbon since three years.",
        "She has lived at Lisbon for three years.",
        "She has lived in Lisbon for three years.\nShe has been living in Lisbon for three years.",
    ],
    [
        "I enjoy to read at night.",
        "I enjoy reading during the night.",
        "I enjoy reading at night.\nI like to read at night.",
    ],
]
"""Source, correction, references."""
