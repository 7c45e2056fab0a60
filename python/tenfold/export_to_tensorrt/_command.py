"""The command: from flags to files."""
from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import sys
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold.export_to_tensorrt import _config, _files, _flags, _report
from tenfold.export_to_tensorrt._benchmark import batch_rates, benchmark_tensorrt
from tenfold.export_to_tensorrt._build import Settings, build_onnx, export_module, one_input, resolve_device
from tenfold.export_to_tensorrt._calibration import Int8Calibrator
from tenfold.export_to_tensorrt._images import Images

if TYPE_CHECKING:
    import argparse

_WARM_UP = 10


def main(arguments: list[str] | None = None) -> None:
    args = _flags.parsed(arguments)
    try:
        run(args)
    except (tenfold.Error, ImportError) as error:
        sys.exit(f'export_to_tensorrt: {error}')


def run(args: argparse.Namespace) -> None:
    _files.check_output(args.output)
    config = _config.load_config(args.config, args.override) if args.config else {}
    _flags.complete(args, dict(config.get('tensorrt') or {}))
    found = _config.shape_of(config) if args.config else shape_of_onnx(args.onnx)
    shape = tuple(args.input_shape or found or ())
    if not shape:
        raise tenfold.InvalidArgument(f'--input-shape is needed: {args.config or args.onnx} does not say which extents the network takes')
    batches = (args.min_batch, args.opt_batch, args.max_batch) if args.dynamic_shapes else None
    settings = Settings(shape, args.precision, args.workspace_size, batches, resolve_device(args.device), calibrator_of(args, shape))
    if args.config:
        reference = _config.load_module(config, args.config, args.ckpt, args.trust_checkpoint).to(settings.device)
        module = export_module(reference, settings)
        engine = module.engine
        _files.save_module(module, args.output)
    else:
        reference = module = None
        engine = build_onnx(args.onnx, settings)
        save_onnx(engine, args.output)
    print(f'{args.output}: {os.path.getsize(args.output) / (1 << 20):.1f} MiB, {args.precision}, on {engine.info.device}')
    if args.benchmark:
        benchmark(args, settings, reference, module or engine, engine)


def shape_of_onnx(path: str) -> tuple[int, ...] | None:
    if not os.path.isfile(path):
        raise tenfold.FileError(f'--onnx {path}: there is no such file')
    binding = one_input([b for b in tenfold.bindings(path) if b.is_input], path)
    shape = (1 if binding.shape[0] < 0 else binding.shape[0], *binding.shape[1:])
    return None if -1 in shape else shape


def calibrator_of(args: argparse.Namespace, shape: tuple[int, ...]) -> Int8Calibrator | None:
    if args.precision != 'int8':
        if args.calibration_data:
            print(f'--calibration-data has no effect: the precision is {args.precision}, and int8 reads it', file=sys.stderr)
        return None
    cache = str(pathlib.Path(args.output).with_suffix('.cache'))
    if args.calibration_data is None:
        if not os.path.exists(cache):
            raise tenfold.InvalidArgument('--precision int8 needs --calibration-data DIR, a folder of 100 to 500 images, or the cache '
                                          f'{cache} of an earlier export')
        print(f'Calibration: ranges of {cache}')
        return Int8Calibrator([], cache)
    batch = args.opt_batch if args.dynamic_shapes else shape[0]
    images = Images(args.calibration_data, args.num_calibration_samples, (batch, *shape[1:]))
    print(f'Calibration: {len(images)} images of {args.calibration_data}')
    return Int8Calibrator(images, cache)


def save_onnx(engine: tenfold.Engine, output: str) -> None:
    if not _files.is_torchscript(output):
        return _files.save_plan(engine, output)
    if importlib.util.find_spec('torch'):
        return _files.save_as_torchscript(engine, output)
    print(f'{output} is a plan: torch is not installed, so that it is no TorchScript, which torch.jit.load takes', file=sys.stderr)
    _files.save_plan(engine, output)


def benchmark(args: argparse.Namespace, settings: Settings, reference: Any, model: Any, engine: tenfold.Engine) -> None:
    if reference is None:
        print('PyTorch is not timed: an ONNX file is no module of it')
    smallest, _, largest = settings.shapes
    timed = min(max(settings.shape[0], smallest[0]), largest[0])
    results = benchmark_tensorrt(reference, model, (timed, *settings.shape[1:]), args.benchmark_iterations, _WARM_UP, settings.device)
    rates = batch_rates(engine)
    path = pathlib.Path(args.output).with_suffix('.benchmark.json')
    path.write_text(json.dumps(_report.document(results), indent=2) + '\n')
    print(_report.table(results, settings.precision), _report.best_batch(rates),
          _report.five_facts(engine, settings, timed, rates, args.benchmark_iterations, _WARM_UP), f'Written: {path}', sep='\n\n')
