#!/usr/bin/env python3
"""Writes python/tests/imaging/monai_answers.npz: what MONAI computes for 300 small generated configurations.

Needs torch and MONAI 1.6.1, not Tenfold: build/torch-venv/bin/python tools/write_monai_answers.py
Run it again when the generator of configurations changes (window_cases.py).
"""
import importlib.metadata
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'python' / 'tests' / 'imaging'))
import monai_answers  # noqa: E402
import torch  # noqa: E402
import window_cases  # noqa: E402
from monai.inferers import sliding_window_inference  # noqa: E402

COUNT, VERSION = 300, '1.6.1'
TORCH = (lambda array: torch.from_numpy(array.copy()), lambda tensor: tensor.numpy())


def answers():
    found = seed = 0
    while found < COUNT:
        case = window_cases.Configuration(seed, small=True)
        if case.monai_computes():
            yield seed, case.call(sliding_window_inference, TORCH)
            found += 1
        seed += 1


installed = importlib.metadata.version('monai')
if installed != VERSION:
    sys.exit(f'MONAI is {installed}; expected {VERSION}: pip install --no-deps monai=={VERSION}')
monai_answers.store(answers())
