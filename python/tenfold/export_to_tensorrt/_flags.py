"""The flags of python -m tenfold.export_to_tensorrt."""
from __future__ import annotations

import argparse

import tenfold
from tenfold.export_to_tensorrt._build import PRECISIONS

EPILOG = 'docs/guides/cyto-dl.md tells more. The exit code is 2 for wrong flags and 1 for all other errors.'
# Flags that a configuration may give under `tensorrt`, as the presets do, and their defaults.
BY_CONFIG = {'precision': 'fp16', 'workspace_size': 4.0, 'dynamic_shapes': False, 'min_batch': 1, 'max_batch': 16, 'opt_batch': 4,
             'num_calibration_samples': 100}


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog='python -m tenfold.export_to_tensorrt', epilog=EPILOG,
                                description='Exports a network of CytoDL, or an ONNX file, as an engine.')
    p.add_argument('--config', metavar='FILE', help='an experiment of CytoDL (Hydra), with --ckpt; needs torch and hydra-core')
    p.add_argument('--ckpt', metavar='FILE', help='checkpoint of --config; only tensors are loaded from it')
    p.add_argument('--trust-checkpoint', action='store_true', help='unpickle all of --ckpt, which runs code that the file names')
    p.add_argument('--override', metavar='KEY=VALUE', action='append', default=[], help="one of Hydra's, for --config; repeatable")
    p.add_argument('--onnx', metavar='FILE', help='an ONNX file in place of --config; needs no torch')
    p.add_argument('--output', metavar='FILE', required=True, help='the engine: with torch and a name in .ts TorchScript, else a plan')
    p.add_argument('--input-shape', metavar='N', type=int, nargs='+',
                   help='batch, channels and spatial extents; default: the patch of --config, or the shape that --onnx fixes')
    p.add_argument('--precision', choices=PRECISIONS, help='default: fp16')
    p.add_argument('--workspace-size', metavar='GB', type=float, help='memory that a kernel may take beside its operands (default: 4)')
    p.add_argument('--dynamic-shapes', action='store_true', default=None, help='take batches from --min-batch to --max-batch')
    p.add_argument('--min-batch', metavar='N', type=int, help='default: 1')
    p.add_argument('--max-batch', metavar='N', type=int, help='default: 16')
    p.add_argument('--opt-batch', metavar='N', type=int, help='the batch that kernels are chosen for (default: 4)')
    p.add_argument('--calibration-data', metavar='DIR', help='folder of images for --precision int8: png, jpg, jpeg, tif, npy')
    p.add_argument('--num-calibration-samples', metavar='N', type=int, help='default: 100')
    p.add_argument('--benchmark', action='store_true', help='time PyTorch and the engine, and write OUTPUT.benchmark.json')
    p.add_argument('--benchmark-iterations', metavar='N', type=int, default=100, help='default: 100')
    p.add_argument('--device', default='cuda', help='cpu, cuda or cuda:N (default: cuda; without a GPU it is the CPU)')
    return p


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    p = parser()
    args = p.parse_args(arguments)
    if (args.config is None) == (args.onnx is None):
        p.error('exactly one of --config FILE and --onnx FILE is needed: the network')
    if args.config and not args.ckpt:
        p.error('--config needs --ckpt FILE, the weights')
    for flag, given in (('--ckpt', args.ckpt), ('--override', args.override), ('--trust-checkpoint', args.trust_checkpoint)):
        if args.onnx and given:
            p.error(f'{flag} belongs to --config; an ONNX file has its weights in it')
    if args.benchmark_iterations < 1:
        p.error(f'--benchmark-iterations {args.benchmark_iterations}: at least 1')
    return args


def complete(args: argparse.Namespace, of_config: dict[str, object]) -> None:
    """Gives each flag that was not given the value of the configuration, or its default."""
    names = {'min_batch_size': 'min_batch', 'max_batch_size': 'max_batch', 'opt_batch_size': 'opt_batch'}   # as the guide's presets say
    given = {names.get(name, name): value for name, value in of_config.items()}
    for name, default in BY_CONFIG.items():
        if getattr(args, name) is not None:
            continue
        value = given.get(name, default)
        if isinstance(value, bool) != isinstance(default, bool) or not isinstance(value, (type(default), int)):
            raise tenfold.InvalidInput(f'--config {args.config}: tensorrt.{name} is {value!r}; expected a value as {default!r}')
        setattr(args, name, value)
    if not args.dynamic_shapes:
        return
    if 'opt_batch' not in given and args.opt_batch == BY_CONFIG['opt_batch']:
        args.opt_batch = min(max(args.opt_batch, args.min_batch), args.max_batch)
