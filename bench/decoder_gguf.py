#!/usr/bin/env python3
"""A folder of bench/decoder_models.py as llama.cpp's files: decoder_gguf.py FOLDER [bf16 q4_0 q8_0 ...].

Writes FOLDER/bf16.gguf, and by llama.cpp's own quantizer FOLDER/q4_0.gguf and so on. Needs the packages gguf and llama-cpp-python.
"""
import ctypes
import json
import os
import struct
import sys

import gguf
import llama_cpp
import numpy as np

NAMES = {'input_layernorm': 'attn_norm', 'post_attention_layernorm': 'ffn_norm', 'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k',
         'self_attn.v_proj': 'attn_v', 'self_attn.o_proj': 'attn_output', 'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up',
         'mlp.down_proj': 'ffn_down'}


def tensors(folder):
    """Names and bf16 as u16, which lie in the file."""
    path = os.path.join(folder, 'model.safetensors')
    with open(path, 'rb') as file:
        length, = struct.unpack('<Q', file.read(8))
        table = json.loads(file.read(length))
    for name, entry in table.items():
        begin, end = entry['data_offsets']
        yield name, np.memmap(path, np.uint16, 'r', 8 + length + begin, ((end - begin) // 2,)).reshape(entry['shape'])


def name_of(name):
    if name == 'model.embed_tokens.weight':
        return 'token_embd.weight'
    if name == 'model.norm.weight':
        return 'output_norm.weight'
    _, _, layer, rest = name.split('.', 3)
    return f'blk.{layer}.{NAMES[rest.removesuffix(".weight")]}.weight'


def turned(w, heads):
    """Rows of a head in pairs, as llama.cpp rotates them."""
    return w.reshape(heads, 2, -1, w.shape[1]).swapaxes(1, 2).reshape(w.shape)


def write(folder, path):
    with open(os.path.join(folder, 'config.json')) as file:
        c = json.load(file)
    w = gguf.GGUFWriter(path, 'llama')
    w.add_context_length(c['max_position_embeddings']), w.add_embedding_length(c['hidden_size'])
    w.add_block_count(c['num_hidden_layers']), w.add_feed_forward_length(c['intermediate_size'])
    w.add_head_count(c['num_attention_heads']), w.add_head_count_kv(c['num_key_value_heads'])
    w.add_rope_dimension_count(c['hidden_size'] // c['num_attention_heads']), w.add_rope_freq_base(c['rope_theta'])
    w.add_layer_norm_rms_eps(c['rms_norm_eps']), w.add_vocab_size(c['vocab_size']), w.add_tokenizer_model('none')
    w.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    for name, bits in tensors(folder):
        for part, heads in (('q_proj', c['num_attention_heads']), ('k_proj', c['num_key_value_heads'])):
            if part in name:
                bits = turned(bits, heads)
        if bits.ndim == 1:
            w.add_tensor(name_of(name), (bits.astype(np.uint32) << 16).view(np.float32))
        else:
            w.add_tensor(name_of(name), np.ascontiguousarray(bits).view(np.uint8), raw_dtype=gguf.GGMLQuantizationType.BF16)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def main():
    if len(sys.argv) < 2:
        sys.exit('usage: decoder_gguf.py FOLDER [bf16 q4_0 q8_0 ...]')
    folder, kinds = sys.argv[1], sys.argv[2:] or ['bf16']
    wide = os.path.join(folder, 'bf16.gguf')
    if not os.path.exists(wide):
        write(folder, wide)
    for kind in kinds:
        path = os.path.join(folder, kind + '.gguf')
        if kind != 'bf16':
            given = llama_cpp.llama_model_quantize_default_params()
            given.ftype, given.nthread = getattr(llama_cpp, 'LLAMA_FTYPE_MOSTLY_' + kind.upper()), 2
            if llama_cpp.llama_model_quantize(wide.encode(), path.encode(), ctypes.byref(given)):
                sys.exit(f'{path}: llama.cpp did not write it')
        print(f'{path}: {os.path.getsize(path) / 1e6:.0f} MB')


if __name__ == '__main__':
    main()
