"""Builds an engine from an ONNX file, for the device that is used.

    python scripts/build_trt_engine.py --onnx models/toy_cnn.onnx --engine models/toy_cnn.engine --max_workspace=256M --fp16 --int8

It ends with 0; with 1 if the engine cannot be built, and tells all that is wrong with the model; with 2 if its arguments are wrong, or
TensorRT's names are not there.
"""
from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import _path   # noqa: F401
import numpy as np
from pattern_engine.trt_engine import TRADING, build_engine, has_tensorrt

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNITS = {'': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}


def size(text: str) -> int:
    """Bytes: '256M', '0.5G', '1048576'."""
    found = re.fullmatch(r'(\d+(?:\.\d+)?)([KMG]?)B?', text.strip().upper())
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: write bytes, or a number with K, M or G, like 256M")
    return int(float(found[1]) * UNITS[found[2]])


def calibration(onnx_path: str, given: str | None) -> NDArray[Any] | None:
    """The windows that are named, or those beside the model; None: there are none."""
    path = given or os.path.splitext(onnx_path)[0] + '.calibration.npy'
    if not given and not os.path.exists(path):
        return None
    try:
        windows: NDArray[Any] = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise RuntimeError(f'{path} is no file of np.save(): {error}') from None
    if not isinstance(windows, np.ndarray) or not windows.ndim:
        raise RuntimeError(f'{path} is no array of windows of np.save()')
    print(f'calibrates with {len(windows)} windows of {path}')
    return windows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--onnx', required=True)
    parser.add_argument('--engine', required=True)
    parser.add_argument('--max_workspace', type=size, help='bytes, or with K, M or G (1G)')
    parser.add_argument('--fp16', action='store_true', help='products may be rounded to 16 bits')
    parser.add_argument('--int8', action='store_true', help='8 bits, by Q/DQ nodes of the model or by a calibration dataset')
    parser.add_argument('--calibration', metavar='F.npy', help='windows f32[count, ...]; default: MODEL.calibration.npy beside the model')
    parser.add_argument('--trading', action='store_true', help='the preset: 256M, --fp16, and types are held strictly')
    args = parser.parse_args()
    if not has_tensorrt():
        print('TensorRT python bindings not found in this environment: install tenfold', file=sys.stderr)
        sys.exit(2)
    options: dict[str, Any] = dict(TRADING) if args.trading else {'max_workspace_size': UNITS['G']}
    if args.max_workspace is not None:
        options['max_workspace_size'] = args.max_workspace
    options['fp16'] = args.fp16 or args.trading
    try:
        windows = calibration(args.onnx, args.calibration) if args.int8 else None
        build_engine(args.onnx, args.engine, **options, int8=args.int8, int8_windows=windows)
    except (OSError, RuntimeError) as error:
        hint = '' if not args.int8 or 'needs a calibration' not in str(error) else ': --calibration=F.npy'
        print(f'{error}{hint}', file=sys.stderr)
        sys.exit(1)
    print('Wrote engine to', args.engine)


if __name__ == '__main__':
    main()
