"""What every engine here answers alike: nothing is vectorized or streamed; and what is aliased."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import EngineCapability, ProfilingVerbosity
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._recorder import Recording
from tenfold.tensorrt._run.bindings import Bindings


class Fixed(Bindings, Recording):
    _told: dict[str, Any]
    engine_capability: Any = EngineCapability.STANDARD
    profiling_verbosity: Any = ProfilingVerbosity.DETAILED
    has_implicit_batch_dimension = False
    num_aux_streams = 0
    streamable_weights_size = 0
    minimum_weight_streaming_budget = weight_streaming_scratch_memory_size = 0

    def get_weight_streaming_automatic_budget(self) -> int: return 0

    @property
    def weight_streaming_budget(self) -> int: return 0

    @weight_streaming_budget.setter
    def weight_streaming_budget(self, size: int) -> None:
        if size > 0:
            raise refused(f'weight_streaming_budget = {size}', 'weights of an engine lie on its device, all of them')

    weight_streaming_budget_v2 = weight_streaming_budget

    def _tensor(self, name: str) -> Any: raise NotImplementedError

    def _of(self, name: str, value: Any) -> Any:
        self._tensor(name)   # which raises where there is none
        return value

    def get_tensor_bytes_per_component(self, name: str, profile_index: int = 0) -> int: return int(self._of(name, -1))
    def get_tensor_components_per_element(self, name: str, profile_index: int = 0) -> int: return int(self._of(name, -1))
    def get_tensor_vectorized_dim(self, name: str, profile_index: int = 0) -> int: return int(self._of(name, -1))

    def get_aliased_input_tensor(self, name: str) -> str:
        """The cache that an output may lie on, of a KV cache's update; '': there is none."""
        return str(self._of(name, self._told.get('aliases', {}).get(name, '')))

    def get_tensor_profile_values(self, name: Any, profile_index: Any) -> list[Any]:
        """[min, opt, max] of the values of an input that decides sizes; empty: the profile has none."""
        if isinstance(name, int):   # TensorRT's own order of names, and that of its types
            name, profile_index = profile_index, name
        self._tensor(name)
        values = self._told.get('values', [])
        return list(values[profile_index].get(name, [])) if profile_index < len(values) else []
