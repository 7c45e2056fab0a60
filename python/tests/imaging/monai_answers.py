"""MONAI's answers to small configurations, as tools/write_monai_answers.py stored them in monai_answers.npz.

`seeds` of the configurations, and of all outputs that MONAI computes in turn: `shapes` (rank, extents...) and `values`.
"""
import os

import numpy as np
import window_cases

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'monai_answers.npz')


def stored():
    """Yields a configuration and the list of its outputs."""
    with np.load(FILE) as file:
        seeds, shapes, values = file['seeds'].tolist(), file['shapes'].tolist(), file['values']
    at = 0
    for seed in seeds:
        case = window_cases.Configuration(seed, small=True)
        outputs = []
        for _ in range(case.monai_computes()):
            rank = shapes.pop(0)
            shape, shapes = shapes[:rank], shapes[rank:]
            size = int(np.prod(shape))
            outputs.append(values[at:at + size].reshape(shape))
            at += size
        yield case, outputs


def store(answers):
    """answers: (seed, outputs)."""
    answers = list(answers)
    outputs = [y for _, ys in answers for y in ys]
    np.savez_compressed(FILE, seeds=np.array([seed for seed, _ in answers], np.int16),
                        shapes=np.array([n for y in outputs for n in (y.ndim, *y.shape)], np.int16),
                        values=np.concatenate([y.astype(np.float32).ravel() for y in outputs]))
