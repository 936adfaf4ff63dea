"""A tiny causal language model whose byte-pair encoding has merges, so that a vocabulary can be cut."""

import pytest
import tokenizers
import torch
import transformers

END = "<|endoftext|>"
TEXT = ["the cat sat on the mat", "the cats sit on mats", "a dog likes the school", "dogs like schools"]


@pytest.fixture(scope="session")
def merged(tmp_path_factory):
    """Folder of a Llama of 4 layers and 289 tokens."""
    folder = tmp_path_factory.mktemp("merged")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokens = {"special_tokens": [END, "<other>"], "initial_alphabet": tokenizers.pre_tokenizers.ByteLevel.alphabet()}
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=300, **tokens, show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END)
    torch.manual_seed(5)
    sizes = {"vocab_size": len(wrapped), "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 4}
    sizes |= {"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 160}
    more = {"initializer_range": 0.3, "tie_word_embeddings": True, "bos_token_id": 0, "eos_token_id": 0}
    config = transformers.LlamaConfig(**sizes, **more)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder
