#!/usr/bin/env python3
"""Folders of decoders with random weights of known shapes, in bf16: decoder_models.py SHAPE FOLDER.

smollm-135m, qwen-0.5b and llama-1b have the sizes of the models of these names, wide-8 has eight wide layers; the tokenizer has three
words. What they say means
nothing: they are for times.
"""
import json
import os
import struct
import sys

import numpy as np

SHAPES = {
    'smollm-135m': dict(hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
                        vocab_size=49152, max_position_embeddings=2048),
    'wide-8': dict(hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=4,
                   vocab_size=32000, max_position_embeddings=4096),
    'qwen-0.5b': dict(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2,
                      vocab_size=151936, max_position_embeddings=4096),
    'llama-1b': dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8,
                     vocab_size=128256, max_position_embeddings=4096),
}


def tensors(c):
    """Names and shapes."""
    width, wide = c['hidden_size'], c['intermediate_size']
    keys = width // c['num_attention_heads'] * c['num_key_value_heads']
    yield 'model.embed_tokens.weight', (c['vocab_size'], width)
    yield 'model.norm.weight', (width,)
    for i in range(c['num_hidden_layers']):
        at = f'model.layers.{i}.'
        yield at + 'input_layernorm.weight', (width,)
        yield at + 'post_attention_layernorm.weight', (width,)
        for name, rows in (('q', width), ('k', keys), ('v', keys), ('o', width)):
            yield f'{at}self_attn.{name}_proj.weight', (rows, width)
        for name, shape in (('gate', (wide, width)), ('up', (wide, width)), ('down', (width, wide))):
            yield f'{at}mlp.{name}_proj.weight', shape


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
        sys.exit(f'usage: decoder_models.py {"|".join(SHAPES)} FOLDER')
    config, folder = SHAPES[sys.argv[1]], sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        more = dict(model_type='llama', rms_norm_eps=1e-5, rope_theta=500000.0, eos_token_id=0, tie_word_embeddings=True)
        json.dump({**more, **config}, file)
    with open(os.path.join(folder, 'tokenizer.json'), 'w') as file:
        json.dump({'version': '1.0', 'added_tokens': [], 'pre_tokenizer': {'type': 'Whitespace'},
                   'model': {'type': 'WordLevel', 'vocab': {'a': 0, 'b': 1, '?': 2}, 'unk_token': '?'}}, file)
    table, at = {}, 0
    for name, shape in tensors(config):
        end = at + 2 * int(np.prod(shape))
        table[name] = {'dtype': 'BF16', 'shape': list(shape), 'data_offsets': [at, end]}
        at = end
    head, random = json.dumps(table).encode(), np.random.default_rng(0)
    with open(os.path.join(folder, 'model.safetensors'), 'wb') as file:
        file.write(struct.pack('<Q', len(head)) + head)
        for _, shape in tensors(config):
            ones = len(shape) == 1
            values = np.ones(shape, np.float32) if ones else random.standard_normal(shape, dtype=np.float32) / np.float32(shape[1] ** 0.5)
            file.write((values.view(np.uint32) >> 16).astype(np.uint16).tobytes())
    print(f'{folder}: {at / 1e6:.0f} MB of weights')


if __name__ == '__main__':
    main()
