"""Small weights in GGUF, of the form of those that packages hold."""

import gguf
import numpy as np
import tokenizers

START = "<|endoftext|>"
HIDDEN, INNER, HEADS, LAYERS = 32, 64, 2, 2


def write_gguf(path, seed=0, architecture="llama", change=lambda name, array: array):
    """A network with random weights in 8 bits and a tokenizer of bytes; `change` maps a tensor's name and values."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = [START, "<|im_start|>", *alphabet, "th", "the"]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(160)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_vocab_size(len(vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3, 3] + [1] * (len(vocabulary) - 2))
    writer.add_token_merges(["t h", "th e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    rng = np.random.default_rng(seed)
    shapes = {"token_embd": (len(vocabulary), HIDDEN), "output_norm": (HIDDEN,)}
    for layer in range(LAYERS):
        block = {"attn_q": (HIDDEN, HIDDEN), "attn_k": (HIDDEN, HIDDEN), "attn_v": (HIDDEN, HIDDEN)}
        block |= {"attn_output": (HIDDEN, HIDDEN), "ffn_gate": (INNER, HIDDEN), "ffn_up": (INNER, HIDDEN)}
        block |= {"ffn_down": (HIDDEN, INNER), "attn_norm": (HIDDEN,), "ffn_norm": (HIDDEN,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in block.items()}
    for name, shape in shapes.items():
        array = change(name, rng.normal(1.0 if len(shape) == 1 else 0.0, 0.3, shape).astype(np.float32))
        kind = gguf.GGMLQuantizationType.Q8_0 if len(shape) == 2 else gguf.GGMLQuantizationType.F32
        data = gguf.quants.quantize(array, kind) if len(shape) == 2 else array
        writer.add_tensor(f"{name}.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
