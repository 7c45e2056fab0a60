"""Refitter: other weights for an engine. Its contexts use them from their next run on."""
from __future__ import annotations

from typing import Any

from tenfold import _native
from tenfold.errors import Error
from tenfold.tensorrt._enums import Enum, TensorLocation
from tenfold.tensorrt._logger import ILogger, fail, need_logger
from tenfold.tensorrt._memory import _numpy_dtype
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._noted import noted
from tenfold.tensorrt._recorder import Recording, plain
from tenfold.tensorrt._run.engine import ICudaEngine
from tenfold.tensorrt._types import Dims, address_of
from tenfold.tensorrt._weights import Weights, array_of, from_gpu, no_weights


class WeightsRole(Enum):
    KERNEL, BIAS, SHIFT, SCALE, CONSTANT, ANY = range(6)


# What layers that were added one by one call their weights: LAYER.kernel.
_ROLES = {'kernel': WeightsRole.KERNEL, 'bias': WeightsRole.BIAS, 'shift': WeightsRole.SHIFT, 'scale': WeightsRole.SCALE,
          'weights': WeightsRole.CONSTANT}
_ENDINGS = {role: ending for ending, role in _ROLES.items()}
_NO_RANGES = 'ranges are settled by the build: a plan keeps what 8 bits were made of them'


class Refitter(Recording):
    """Weights by the names that the ONNX file gives them, or by layer and role where layers were added one by one, for engines that were
    built with BuilderFlag.REFIT."""

    def __init__(self, engine: ICudaEngine, logger: ILogger) -> None:
        if not isinstance(engine, ICudaEngine):
            raise TypeError(f'a Refitter takes an engine, got {type(engine).__name__}')
        self._engine, self._logger = engine, need_logger(logger)
        self._given: dict[str, Any] = {}
        self._locations: dict[str, TensorLocation] = {}

    @property
    def logger(self) -> ILogger: return plain(self._logger)

    def _weights(self) -> dict[str, Any]:
        return {w.name: w for w in self._engine._engine.refittable_weights if not w.fixed}

    def get_all_weights(self) -> list[str]: return list(self._weights())

    def get_missing_weights(self) -> list[str]:
        """None: what is not given keeps its value."""
        return []

    def set_named_weights(self, name: str, weights: Any, location: Any = TensorLocation.HOST) -> bool:
        """An array of the weight's shape and type, or Weights. It is copied, so it need not live on. DEVICE: Weights(type, ptr, count) at
        an address of the engine's device. False: the name, the number of elements or the type is another; the logger tells which."""
        import numpy as np
        known = self._weights()
        if name not in known:
            fail(self._logger, f'the engine has no weight {name!r} that may change; it has {", ".join(known) or "none"}')
            return False
        on_gpu = TensorLocation(location) == TensorLocation.DEVICE and self._engine._on_gpu
        array = from_gpu(weights, name) if on_gpu else np.array(array_of(weights))
        if _native.dtype_name(array.dtype) != known[name].dtype:
            fail(self._logger, f"set_named_weights(): '{name}' is {known[name].dtype}, {_native.dtype_name(array.dtype)} is given")
            return False
        if array.size == np.prod(known[name].shape, dtype=np.int64):   # TensorRT's weights have no shape
            array = array.reshape(known[name].shape)
        if Dims(array.shape) != Dims(known[name].shape):
            fail(self._logger, f"set_named_weights(): '{name}' is {Dims(known[name].shape)}, {Dims(array.shape)} is given")
            return False
        self._given[name], self._locations[name] = array, TensorLocation(location)
        return True

    def get_all(self) -> tuple[list[str], list[WeightsRole]]:
        """Layers and roles of what set_weights() takes."""
        parts = [name.rpartition('.') for name in self._weights()]
        found = [(layer, _ROLES[ending]) for layer, _, ending in parts if layer and ending in _ROLES]
        return [layer for layer, _ in found], [role for _, role in found]

    def get_missing(self) -> tuple[list[str], list[WeightsRole]]:
        """None: what is not given keeps its value."""
        return [], []

    def set_weights(self, layer_name: str, role: WeightsRole, weights: Any) -> bool:
        """Of a layer that was added by that name."""
        role = WeightsRole(role)
        if role not in _ENDINGS:
            fail(self._logger, f'set_weights(): layers have no weights of {role}; there are {", ".join(map(str, _ENDINGS))}')
            return False
        return self.set_named_weights(f'{layer_name}.{_ENDINGS[role]}', weights)

    def unset_named_weights(self, weights_name: str) -> bool: return self._given.pop(weights_name, None) is not None

    def get_weights_prototype(self, weights_name: str) -> Weights:
        """Weights of the type and number of elements that are wanted; the elements mean nothing. Their size is -1 where the engine has no
        such weights."""
        import numpy as np
        if (known := self._weights().get(weights_name)) is None:
            fail(self._logger, f'the engine has no weight {weights_name!r} that may change')
            return no_weights()
        return Weights(np.zeros(known.shape, _numpy_dtype(_native.numpy_name(known.dtype))))

    def get_weights_location(self, weights_name: str) -> TensorLocation:
        """Where what was given lay; HOST: nothing was given."""
        return self._locations.get(weights_name, TensorLocation.HOST)

    def refit_cuda_engine_async(self, stream_handle: Any = 0) -> bool:
        """refit_cuda_engine(), which is over when it returns: contexts use the new weights from their next run on."""
        address_of(stream_handle or 0, 'stream_handle')
        return self.refit_cuda_engine()

    max_threads = noted('max_threads', 1, 'a refit uses the processors that this process may use')
    weights_validation = noted('weights_validation', True, 'weights are always compared with what the plan was made for')

    def get_tensors_with_dynamic_range(self) -> list[str]: return []

    def get_dynamic_range(self, tensor_name: str) -> Any: raise refused('get_dynamic_range()', _NO_RANGES)
    def set_dynamic_range(self, tensor_name: str, range: Any) -> bool: raise refused('set_dynamic_range()', _NO_RANGES)

    def get_named_weights(self, weights_name: str) -> Weights:
        """A copy of what was given; empty, and an error to the logger: nothing was."""
        if weights_name not in self._given:
            fail(self._logger, f'get_named_weights(): no weights were given for {weights_name!r}')
            return Weights()
        return Weights(self._given[weights_name])

    def refit_cuda_engine(self) -> bool:
        """False: the engine stays as it is; the logger tells why."""
        try:
            self._engine._engine = self._engine._engine.refit(self._given)
        except Error as error:
            self._engine._raise_of_allocator()
            fail(self._logger, error)
            return False
        self._given = {}
        return True
