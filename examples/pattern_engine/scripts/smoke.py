"""What both smoke tests do: an engine's answers beside ONNX's own reference, which shares no code with it."""
from __future__ import annotations

import argparse
import os
import sys

import _path   # noqa: F401
import numpy as np
import onnx
import onnx.reference
from pattern_engine.trt_engine import TRTEngine, has_tensorrt
from toy_models import spikes

from tenfold.pycuda import driver as cuda

TOLERANCE = 0.05   # of the largest score: engines may have been built with 16 or 8 bits


def compare(engine: TRTEngine, onnx_path: str) -> None:
    """Prints a sample, and raises RuntimeError if an answer is wrong."""
    windows = spikes(np.random.default_rng(2), 64)[0][:, None]
    expected = tuple(engine.bindings[engine.input_binding_idxs[0]]['shape'])
    if expected != windows.shape[1:]:
        raise RuntimeError(f'the engine takes {expected}, the windows of this test have the shape {windows.shape[1:]}')
    found = np.stack([engine.infer(window) for window in windows])
    print('inference output shape', found[0].shape)
    print('out sample', found[0].ravel()[:10])
    reference = onnx.reference.ReferenceEvaluator(onnx.load(onnx_path))
    required = np.stack([np.asarray(reference.run(None, {reference.input_names[0]: window}))[0] for window in windows])
    if found.shape != required.shape:
        raise RuntimeError(f'outputs have the shape {found.shape[1:]}, those of {onnx_path} {required.shape[1:]}')
    if not np.isfinite(found).all():
        raise RuntimeError('an output is not finite')
    error = float(np.abs(found - required).max() / np.abs(required).max())
    print(f'largest difference to {onnx_path}: {error:.2e} of the largest output')
    if error > TOLERANCE:
        raise RuntimeError(f'outputs are off by {error:.2e} of the largest, more than {TOLERANCE}: is the engine older than its model?')


def main(name: str) -> None:
    parser = argparse.ArgumentParser(description=f'Tests an engine of {name}: exit code 1 when an answer is wrong, or there is none.')
    parser.add_argument('--engine', default=f'models/{name}.engine')
    parser.add_argument('--onnx', help='the model that it was built from; default: beside the engine')
    args = parser.parse_args()
    print('has_tensorrt=', has_tensorrt())
    try:
        engine = TRTEngine(args.engine)
        print('engine loaded on', cuda.Device(0).name() + ', bindings:', engine.bindings)
        compare(engine, args.onnx or os.path.splitext(args.engine)[0] + '.onnx')
    except (OSError, RuntimeError) as error:
        sys.exit(f'smoke test failed: {error}')
    print('ok')
