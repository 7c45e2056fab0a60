"""What is marked in a network: debug tensors, outputs for their values as shapes, names of weights; and tensors that go."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._logger import ILogger, fail
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.layer_kinds import KINDS
from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._weights import Weights, array_of


class Marks:
    _logger: ILogger
    _graph: Any
    _made: Any
    _unfused: bool
    _marked_debug: list[ITensor]
    _weight_names: list[tuple[Any, str]]

    num_layers: Any

    def get_layer(self, index: int) -> Any: raise NotImplementedError
    def mark_output(self, tensor: ITensor) -> None: raise NotImplementedError
    def unmark_output(self, tensor: ITensor) -> None: raise NotImplementedError

    # Debug tensors: kept by the build as outputs that the engine hides, so that no fusion takes them away.

    def mark_debug(self, tensor: ITensor) -> bool:
        """The listener of a context may hear of it (set_debug_listener, set_tensor_debug_state). False: it is an input, which is known."""
        if tensor.is_network_input:
            fail(self._logger, f"mark_debug(): '{tensor.name}' is an input, whose values are the caller's")
            return False
        if tensor not in self._marked_debug:
            self._marked_debug.append(tensor)
        return True

    def unmark_debug(self, tensor: ITensor) -> bool:
        if tensor not in self._marked_debug:
            fail(self._logger, f"unmark_debug(): '{tensor.name}' is not marked")
            return False
        self._marked_debug.remove(tensor)
        return True

    def is_debug_tensor(self, tensor: ITensor) -> bool: return tensor in self._marked_debug

    def mark_unfused_tensors_as_debug_tensors(self) -> bool:
        """Contexts may tell a listener of every value that fusion leaves (unfused_tensors_debug_state). It changes nothing in the build."""
        self._unfused = True
        return True

    def unmark_unfused_tensors_as_debug_tensors(self) -> bool:
        self._unfused = False
        return True

    def _debug_names(self) -> dict[str, bool]:
        """True: an output for the listener's sake alone."""
        return {tensor.name: tensor in self._kept for tensor in self._marked_debug}

    _kept: list[ITensor] = []   # of the build that is under way; never changed in place

    def _keep_debug(self) -> None:
        """Before a build; _let_debug_go() is behind it."""
        self._kept = [tensor for tensor in self._marked_debug if not tensor.is_network_output]
        for tensor in self._kept:
            self.mark_output(tensor)

    def _let_debug_go(self) -> None:
        for tensor in self._kept:
            self.unmark_output(tensor)
        self._kept = []

    def _aliases(self) -> dict[str, str]:
        """Outputs that are caches updated where inputs lie."""
        made = range(self._made.count() if self._made else 0)
        updates = [self.get_layer(self.num_layers - len(made) + i) for i in made if self._made.kind(i) == 'kv_cache_update']
        return {u.get_output(0).name: u.get_input(0).name for u in updates
                if u.get_output(0).is_network_output and u.get_input(0).is_network_input}

    # Shapes as outputs: values like others.

    def mark_output_for_shapes(self, tensor: ITensor) -> bool:
        """Its values are an output, on the device as all are."""
        self.mark_output(tensor)
        return True

    def unmark_output_for_shapes(self, tensor: ITensor) -> bool:
        self.unmark_output(tensor)
        return True

    # Weights.

    def set_weights_name(self, weights: Any, name: str) -> bool:
        """By which a Refitter knows them, instead of LAYER.kernel and the like. False: no layer has these weights."""
        array = array_of(weights)
        if array is None or self._holder(array) is None:
            fail(self._logger, f'set_weights_name(): no layer was given the weights that are to be called {name!r}')
            return False
        self._weight_names.append((array, str(name)))
        return True

    def _holder(self, array: Any) -> tuple[int, str] | None:
        """The layer and the option that have the memory of an array."""
        for layer in range(self._made.count() if self._made else 0):
            for option, kind in KINDS[self._made.kind(layer)].options.items():
                if kind is not Weights or (held := self._made.option(layer, option)) is None:
                    continue
                if held.__array_interface__['data'][0] == array.__array_interface__['data'][0] and held.nbytes == array.nbytes:
                    return layer, option
        return None

    def _name_weights(self) -> None:
        """Before a build, when all layers are made."""
        for array, name in self._weight_names:
            if holder := self._holder(array):
                value = self._graph._data.find(f'{self._made.name(holder[0])}.{holder[1]}')
                if value.defined:
                    self._graph._data.rename(value, name)

    def are_weights_marked_refittable(self, name: str) -> bool: return False

    def mark_weights_refittable(self, name: str) -> bool:
        raise refused(f'mark_weights_refittable({name!r})', 'single weights cannot be marked; BuilderFlag.REFIT makes all '
                      'refittable that can be')

    def unmark_weights_refittable(self, name: str) -> bool:
        fail(self._logger, f'unmark_weights_refittable(): {name!r} is not marked: none is')
        return False

    def remove_tensor(self, tensor: ITensor) -> None:
        """An input that nothing reads. Results go with their layers."""
        if not tensor.is_network_input:
            raise refused(f"remove_tensor() of '{tensor.name}'", 'it is a result, which goes when no output needs its layer')
        self._graph.remove_input(tensor.name)
