"""Trains a model with NumPy, or makes one with random weights, and writes it as an ONNX file.

    python scripts/export_onnx_model.py --model toy_cnn --output models/toy_cnn.onnx

Beside models that are trained it writes windows for a calibration, models/toy_cnn.calibration.npy.
"""
from __future__ import annotations

import argparse
import io
import os
import sys

import _path   # noqa: F401
import numpy as np
from pattern_engine.build import write_whole
from toy_models import MODELS, TRAINED, make_model, spikes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', choices=MODELS, default='toy_cnn')
    parser.add_argument('--output', help='default: models/MODEL.onnx')
    args = parser.parse_args()
    output = args.output or f'models/{args.model}.onnx'
    try:
        write_whole(output, make_model(args.model).SerializeToString())
        print('exported', output)
        if args.model in TRAINED:
            windows, file = spikes(np.random.default_rng(1), 256)[0][:, None], io.BytesIO()
            np.save(file, windows)
            write_whole(beside := os.path.splitext(output)[0] + '.calibration.npy', file.getvalue())
            print(f'wrote {len(windows)} windows for a calibration to', beside)
    except (OSError, RuntimeError) as error:
        sys.exit(f'export_onnx_model: {error}')


if __name__ == '__main__':
    main()
