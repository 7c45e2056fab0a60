"""8.x's view of an engine: inputs and outputs by number, those of the second profile behind those of the first."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold._engine import Engine
from tenfold.tensorrt._names import Named
from tenfold.tensorrt._types import Dims


class Bindings(Named):
    max_batch_size = 1
    _names: list[str]
    _tensors: dict[str, Any]
    _engine: Engine
    _profiles: int

    @property
    def num_bindings(self) -> int: return len(self._names) * self._profiles

    def __len__(self) -> int: return self.num_bindings
    def __bool__(self) -> bool: return True
    def __iter__(self) -> Iterator[str]: return (self.get_binding_name(i) for i in range(self.num_bindings))

    def __getitem__(self, binding: Any) -> Any:
        """A name by number, a number by name."""
        if isinstance(binding, str):
            found = self.get_binding_index(binding)
            if found < 0:
                raise KeyError(binding)
            return found
        return self.get_binding_name(binding + self.num_bindings if binding < 0 else binding)

    def get_binding_name(self, index: int) -> str:
        if not 0 <= index < self.num_bindings:
            raise IndexError(f'there is no binding {index}: the engine has {self.num_bindings}')
        profile, tensor = divmod(index, len(self._names))
        return self._names[tensor] + (f' [profile {profile}]' if profile else '')

    def get_binding_index(self, name: str) -> int:
        """-1: there is none of this name."""
        return next((i for i, other in enumerate(self) if other == name), -1)

    def _binding(self, binding: Any) -> str:
        """The name of the tensor."""
        index = self.get_binding_index(binding) if isinstance(binding, str) else binding
        if not 0 <= index < self.num_bindings:
            raise IndexError(f'there is no binding {binding!r}; the engine has {", ".join(self)}')
        return self._names[index % len(self._names)]

    def binding_is_input(self, binding: Any) -> bool: return bool(self._tensors[self._binding(binding)].is_input)
    def get_binding_shape(self, binding: Any) -> Dims: return Dims(self.get_tensor_shape(self._binding(binding)))
    def get_binding_dtype(self, binding: Any) -> Any: return self.get_tensor_dtype(self._binding(binding))
    def get_binding_format(self, binding: Any) -> Any: return self.get_tensor_format(self._binding(binding))
    def get_binding_format_desc(self, binding: Any) -> Any: return self.get_tensor_format_desc(self._binding(binding))
    def get_location(self, binding: Any) -> Any: return self.get_tensor_location(self._binding(binding))
    def is_shape_binding(self, binding: Any) -> bool: return bool(self.is_shape_inference_io(self._binding(binding)))
    def is_execution_binding(self, binding: Any) -> bool: return bool(self._binding(binding))

    def get_profile_shape(self, profile_index: int, binding: Any) -> list[Dims]:
        """[min, opt, max] of an input."""
        return list(self.get_tensor_profile_shape(self._binding(binding), profile_index))
