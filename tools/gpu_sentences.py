#!/usr/bin/env python3
"""Real sentences for the GPU check: a sentence encoder whose table keeps only the rows that they use (so that it packs well), and their
tokens.

    gpu_sentences.py MODEL.onnx TOKENIZER.json SENTENCES.csv OUT [COUNT]

The sentences are the first two columns of the CSV, in order; 1,000 of them by default. Writes OUT/model.onnx and OUT/tokens.npz.
"""
import csv, os, sys

import numpy as np

FOLDER = 'sentences'   # in the bundle


def cosines(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def tokens_of(tokenizer_file, texts):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(tokenizer_file)
    tokenizer.enable_padding()
    tokenizer.enable_truncation(128)
    encoded = tokenizer.encode_batch(texts)
    return {'input_ids': np.array([e.ids for e in encoded], np.int64),
            'attention_mask': np.array([e.attention_mask for e in encoded], np.int64)}


def keep_rows(model, rows):
    """Zeroes all other rows of the table of words: the largest constant that is longer than all token numbers."""
    from onnx import numpy_helper
    tables = [i for i in model.graph.initializer if len(i.dims) == 2 and i.dims[0] > max(rows)]
    table = max(tables, key=lambda i: i.dims[0] * i.dims[1])
    old = numpy_helper.to_array(table)
    new = np.zeros_like(old)
    new[list(rows)] = old[list(rows)]
    table.CopyFrom(numpy_helper.from_array(new, table.name))


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    import onnx
    model_file, tokenizer_file, sentences, out = sys.argv[1:5]
    with open(sentences, newline='') as f:
        texts = [text for row in csv.reader(f) for text in row[:2]][:int(sys.argv[5]) if len(sys.argv) > 5 else 1000]
    tokens, model = tokens_of(tokenizer_file, texts), onnx.load(model_file)
    keep_rows(model, set(tokens['input_ids'].ravel().tolist()))
    os.makedirs(out, exist_ok=True)
    onnx.save(model, os.path.join(out, 'model.onnx'))
    np.savez_compressed(os.path.join(out, 'tokens.npz'), **tokens)
    print(f"{len(texts)} sentences, {tokens['input_ids'].shape[1]} tokens the longest")


if __name__ == '__main__':
    main()
