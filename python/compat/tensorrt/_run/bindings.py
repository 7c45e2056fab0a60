"""8.x's view of an engine: inputs and outputs by number, those of the second profile behind those of the first."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold._engine import Engine
from tenfold.tensorrt._names import Named
from tenfold.tensorrt._types import Dims


def _by_number_or_name(method: Any) -> Any:
    """Of one binding, which 8.x's scripts give by `index`, by `name`, or as they like."""
    def call(self: Any, index: Any = None, *, name: Any = None, binding: Any = None) -> Any:
        given = [each for each in (index, name, binding) if each is not None]
        if len(given) != 1:
            raise TypeError(f'{method.__name__}() takes the index or the name of one binding, got {len(given)}')
        return method(self, self._binding(given[0]))
    call.__name__ = call.__qualname__ = method.__name__
    return call


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

    @_by_number_or_name
    def binding_is_input(self, name: str) -> bool: return bool(self._tensors[name].is_input)
    @_by_number_or_name
    def get_binding_shape(self, name: str) -> Dims: return Dims(self.get_tensor_shape(name))
    @_by_number_or_name
    def get_binding_dtype(self, name: str) -> Any: return self.get_tensor_dtype(name)
    @_by_number_or_name
    def get_binding_format(self, name: str) -> Any: return self.get_tensor_format(name)
    @_by_number_or_name
    def get_binding_format_desc(self, name: str) -> Any: return self.get_tensor_format_desc(name)
    @_by_number_or_name
    def get_location(self, name: str) -> Any: return self.get_tensor_location(name)
    def get_binding_bytes_per_component(self, index: int) -> int: return int(self.get_tensor_bytes_per_component(self._binding(index)))
    def get_binding_components_per_element(self, index: int) -> int:
        return int(self.get_tensor_components_per_element(self._binding(index)))

    def get_binding_vectorized_dim(self, index: int) -> int: return int(self.get_tensor_vectorized_dim(self._binding(index)))
    def is_shape_binding(self, binding: Any) -> bool: return bool(self.is_shape_inference_io(self._binding(binding)))
    def is_execution_binding(self, binding: Any) -> bool: return bool(self._binding(binding))

    def get_profile_shape(self, profile_index: int, binding: Any) -> list[Dims]:
        """[min, opt, max] of an input."""
        return list(self.get_tensor_profile_shape(self._binding(binding), profile_index))

    def get_profile_shape_input(self, profile_index: int, binding: Any) -> list[list[int]]:
        """[min, opt, max] of the values of an input whose elements are extents."""
        return list(self.get_tensor_profile_values(profile_index, self._binding(binding)))
