"""Ranges of settings, and combinations that exclude each other; test_fuzz_texts.py tries types and choices of all."""

import pytest

from geceval import registry

NAN = float("nan")
F_SCORES = ("m2", "errant", "ged", "gotoscorer", "uot_errant", "pt_m2", "pt_errant")
CAUSAL = ("scribendi", "asano2017", "fluency", "impara_lm")
ENCODERS = ("impara", "impara_ged", "bertscore", "bartscore", "ged")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        *[(name, {"beta": 0}, "beta must lie between") for name in F_SCORES],
        *[(name, {"max_length": 1}, "at least 2, got 1") for name in CAUSAL],
        *[(name, {"max_length": 2}, "max_length must be at least 3, got 2") for name in ENCODERS],
        ("some", {"max_length": 3}, "max_length must be at least 4, got 3"),
        ("m2", {"max_unchanged_words": -1}, "max_unchanged_words must"),
        ("errant", {"nlp": None}, "nlp must"),
        ("gleu", {"iterations": 0}, "iterations must"),
        ("gleu", {"iterations": 100_001}, "iterations must"),
        ("i_measure", {"change_weight": 0.0}, "change_weight must"),
        ("bertscore", {"layer": 0}, "layer must be at least 1"),
        ("impara", {"threshold": NAN}, "threshold must lie between -1e\\+06 and 1e\\+06, got nan"),
        ("scribendi", {"threshold": 1.2}, "threshold must lie between 0 and 1, got 1.2"),
        ("scribendi", {"threshold": NAN}, "threshold must lie between 0 and 1, got nan"),
        ("ged", {"threshold": 1.5}, "threshold must lie between 0 and 1, got 1.5"),
        ("ged", {"threshold": 0.5}, "threshold is for a detector; name one"),
        ("ged", {"classes": 3}, "classes must be one of 2, 4, 25, 55, got 3"),
        ("gotoscorer", {"difficulty": "uniform", "systems": []}, "difficulty and systems"),
        ("gotoscorer", {"difficulty": 3}, "difficulty must be a path or a Difficulty, got int 3"),
        ("gotoscorer", {"ref_id": -1}, "ref_id must be at least 0, got -1"),
        *[(name, {"weight": "self", "layer": 3}, "layer is an option of weight=") for name in ("pt_m2", "pt_errant")],
        ("some", {"weights": "both"}, "weights must be one of 'sentence', 'system', got 'both'"),
        ("some", {"weights": (0.5, 0.5)}, "weights must be 'sentence', 'system' or three numbers"),
        ("some", {"weights": (0.5, "0.4", 0.1)}, "weights must be one of .* or a list of numbers, got tuple"),
        ("some", {"weights": (0.5, 0.4, NAN)}, "the weight of meaning must lie between"),
        ("some", {"weights": (float("inf"), 0.4, 0.1)}, "the weight of grammaticality must lie between"),
        ("some", {"weights": (0.5, 0.6, -0.1)}, "the weight of meaning must lie between 0"),
        ("some", {"weights": (0, 0, 0)}, "at least one of the weights must be positive"),
        ("asano2017", {"weights": (1, 2)}, "weights must be 'some-system', 'some-sentence' or three numbers"),
        ("asano2017", {"weights": (1, -1, 0)}, "the weight of fluency must lie between 0"),
        ("llm_judge", {"temperature": -1.0}, "temperature must lie between 0 and 2"),
        ("llm_judge", {"base_url": "http://key@host/v1"}, "keys come from the environment only"),
        ("llm_judge", {"api_key_env": "sk-1234"}, "never the key"),
        ("llm_judge", {"backend": "transformers", "temperature": 0.5}, "most probable grade"),
        ("llm_judge", {"backend": "transformers", "base_url": "http://x/v1"}, "has no base_url"),
        ("llm_judge", {"concurrency": 0}, "concurrency must lie between 1 and 256"),
        ("llm_judge", {"retries": 21}, "retries must lie between 0 and 20"),
    ],
)
def test_bad_settings_are_named(name, options, message):
    with pytest.raises((ValueError, TypeError), match=f"^{name}: .*{message}"):
        registry.make_scorer(name, options)
