"""From a model's file to an engine's file."""
from __future__ import annotations

import importlib.util
import os
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The guide's settings for trading, as arguments of build_engine().
TRADING: dict[str, Any] = {'max_workspace_size': 256 << 20, 'fp16': True, 'strict_types': True}


def build_engine(onnx_path: str, engine_path: str, max_workspace_size: int = 1 << 30, fp16: bool = False, *,
                 int8_windows: NDArray[Any] | None = None, int8: bool = False, strict_types: bool = False) -> str:
    """Builds for the device that is used (TENFOLD_DEVICE, else the first GPU, else the CPU), and gives the engine's path.

    fp16 permits rounding to 16 bits. Without it no product is rounded, so TF32 is off, too: answers are those of other runtimes within
    1e-4. int8 computes with 8 bits where the model has Q/DQ nodes, or ranges from `int8_windows`: samples of the only input, stacked.
    strict_types: what a layer's precision was set to is held, or the build fails. The file is whole or is not there.
    """
    if importlib.util.find_spec('tenfold') is None:
        raise RuntimeError('tensorrt Python bindings are required to build TRT engines')
    import tenfold.tensorrt as trt
    from pattern_engine.log import Log
    log = Log()
    builder = trt.Builder(log)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    if network is None:
        raise RuntimeError(f'No network could be made: {log.reasons()}')
    parser = trt.OnnxParser(network, log)
    with open(onnx_path, 'rb') as f:
        model = f.read()
    if not parser.parse(model):
        errors = [str(parser.get_error(index)) for index in range(parser.num_errors)]
        raise RuntimeError(f'Failed to parse ONNX model: {onnx_path}; errors={errors}')
    config = builder.create_builder_config()
    config.max_workspace_size = int(max_workspace_size)
    if fp16:
        config.set_flag(trt.BuilderFlag.FP16)
    else:
        config.clear_flag(trt.BuilderFlag.TF32)
    if strict_types:
        config.set_flag(trt.BuilderFlag.STRICT_TYPES)
    if int8:
        from pattern_engine.calibration import set_int8
        set_int8(network, config, int8_windows)
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        raise RuntimeError(f'TensorRT engine build returned None (check logs for details): {log.reasons()}')
    write_whole(engine_path, bytes(plan))
    return engine_path


def write_whole(path: str, data: bytes) -> None:
    """Writes beside the file and renames, so that nobody ever finds a part of it."""
    folder = os.path.dirname(path) or '.'
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as f:
        try:
            f.write(data)
            f.flush()
            os.chmod(f.name, 0o666 & ~_umask())
            os.replace(f.name, path)
        except BaseException:
            os.unlink(f.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
