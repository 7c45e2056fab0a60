"""The build phase: an ONNX file becomes an engine for this machine."""
from __future__ import annotations

import argparse
import sys

import tenfold.tensorrt as trt


class EngineBuilder:
    def __init__(self, verbose: bool = False) -> None:
        self.logger = trt.Logger(trt.Logger.VERBOSE if verbose else trt.Logger.INFO)
        trt.init_libnvinfer_plugins(self.logger, namespace='')
        self.builder = trt.Builder(self.logger)
        self.config = self.builder.create_builder_config()
        self.config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 4 << 30)
        self.config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED

    def create_network(self, onnx_path: str) -> None:
        """Reads the model; all that is wrong with it is printed."""
        network = self.builder.create_network(0)
        if network is None:
            sys.exit('no network could be made; the lines above say why')
        self.network = network
        parser = trt.OnnxParser(self.network, self.logger)
        if not parser.parse_from_file(onnx_path):
            sys.exit('\n'.join(str(parser.get_error(i)) for i in range(parser.num_errors)))
        for i in range(self.network.num_inputs):
            tensor = self.network.get_input(i)
            print(f'input  {tensor.name} {tensor.shape} {tensor.dtype}')
        for i in range(self.network.num_outputs):
            tensor = self.network.get_output(i)
            print(f'output {tensor.name} {tensor.shape} {tensor.dtype}')

    def create_engine(self, engine_path: str, max_batch: int, fp16: bool, level: int, timing_cache: str | None) -> None:
        profile = self.builder.create_optimization_profile()
        for i in range(self.network.num_inputs):
            tensor = self.network.get_input(i)
            smallest, usual, largest = ((batch, *tuple(tensor.shape)[1:]) for batch in (1, max_batch, max_batch))
            profile.set_shape(tensor.name, smallest, usual, largest)
        self.config.add_optimization_profile(profile)
        self.config.builder_optimization_level = level
        if fp16:
            self.config.set_flag(trt.BuilderFlag.FP16)
        cache = self._load_cache(timing_cache) if timing_cache else None
        plan = self.builder.build_serialized_network(self.network, self.config)
        if plan is None:
            sys.exit('the build failed; the lines above say why')
        with open(engine_path, 'wb') as f:
            f.write(plan)
        if cache is not None and timing_cache:
            with open(timing_cache, 'wb') as f:
                f.write(cache.serialize())
        print(f'{engine_path}: {plan.nbytes} bytes')

    def _load_cache(self, path: str) -> trt.ITimingCache:
        try:
            with open(path, 'rb') as f:
                kept = f.read()
        except FileNotFoundError:
            kept = b''
        cache = self.config.create_timing_cache(kept)
        if cache is None:
            sys.exit(f'{path} is no timing cache; the lines above say why')
        self.config.set_timing_cache(cache, ignore_mismatch=False)
        return cache


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('onnx')
    parser.add_argument('engine')
    parser.add_argument('--max-batch', type=int, default=8)
    parser.add_argument('--fp16', action='store_true')
    parser.add_argument('--level', type=int, default=3, help='0 to 5: how much is tried (default 3)')
    parser.add_argument('--timing-cache', help='times measured before, and after this build')
    parser.add_argument('--verbose', action='store_true')
    args = parser.parse_args()
    builder = EngineBuilder(args.verbose)
    builder.create_network(args.onnx)
    builder.create_engine(args.engine, args.max_batch, args.fp16, args.level, args.timing_cache)


if __name__ == '__main__':
    main()
