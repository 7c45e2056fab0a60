"""Names of layers and values that are never made here."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.layer import ILayer

_WHY = {'IMoELayer': 'there is no layer for mixtures of experts', 'IDistCollectiveLayer': 'a run uses one device: there are no collectives'}


class _Unmade(ILayer):
    def __init__(self, *_: Any, **__: Any) -> None: raise self._refusal(type(self).__name__)

    @classmethod
    def _refusal(cls, what: str) -> Exception: return refused(what, _WHY[cls.__name__])


def _field(name: str) -> property:
    def get(self: _Unmade) -> Any: raise self._refusal(name)
    def put(self: _Unmade, value: Any) -> None: raise self._refusal(name)
    return property(get, put)


class IDistCollectiveLayer(_Unmade):
    pass


class IMoELayer(_Unmade):
    activation_type, dyn_q_output_scale_type = _field('activation_type'), _field('dyn_q_output_scale_type')
    quantization_block_shape, quantization_to_type = _field('quantization_block_shape'), _field('quantization_to_type')
    swiglu_param_alpha, swiglu_param_beta = _field('swiglu_param_alpha'), _field('swiglu_param_beta')
    swiglu_param_limit = _field('swiglu_param_limit')

    def set_gated_weights(self, *_: Any, **__: Any) -> None: raise self._refusal('set_gated_weights()')
    def set_gated_biases(self, *_: Any, **__: Any) -> None: raise self._refusal('set_gated_biases()')
    def set_quantization_static(self, *_: Any, **__: Any) -> None: raise self._refusal('set_quantization_static()')
    def set_quantization_dynamic_dbl_q(self, *_: Any, **__: Any) -> None: raise self._refusal('set_quantization_dynamic_dbl_q()')
    def set_swiglu_params(self, *_: Any, **__: Any) -> None: raise self._refusal('set_swiglu_params()')


class FallbackString(str):
    """A str, which 10.x takes for a name that is no UTF-8."""
