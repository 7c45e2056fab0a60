"""Branches and loops of a Network: functions of Python as bodies."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native

if TYPE_CHECKING:
    from tenfold._network import Network, Value


def branch(net: Network, condition: Any, then: Callable[..., Any], otherwise: Callable[..., Any]) -> Any:
    return _results(net, net._data.branch(_flag(net, condition).ref, _body(net, 'If', then), _body(net, 'If', otherwise)))


def loop(net: Network, count: Any, condition: Any, initial: Any, body: Callable[..., Any]) -> Any:
    if isinstance(count, int) and not isinstance(count, bool):
        import numpy as np
        count = np.asarray(count, np.int64)
    trips, goes_on = (_native.TensorRef() if given is None else _flag(net, given).ref for given in (count, condition))
    return _results(net, net._data.loop(trips, goes_on, _refs(net, 'what a Loop carries', initial), _body(net, 'Loop', body)))


def scan(net: Network, initial: Any, sequences: Any, body: Callable[..., Any], attributes: dict[str, Any]) -> Any:
    states, slices = _refs(net, 'the states of a Scan', initial), _refs(net, 'the sequences of a Scan', sequences)
    return _results(net, net._data.scan(states, slices, _body(net, 'Scan', body), attributes))


def _flag(net: Network, given: Any) -> Value:
    if isinstance(given, bool):
        import numpy as np
        given = np.asarray(given)
    return net._value(given)


def _refs(net: Network, what: str, given: Any) -> list[_native.TensorRef]:
    """Those of a value, or of a list of them; arrays become constants."""
    items = given if isinstance(given, (list, tuple)) else [given]
    for item in items:
        if item is None or isinstance(item, (int, float)) and not isinstance(item, bool):
            raise TypeError(f'{what}: {item!r} found, a value or an array expected')
    return [_flag(net, item).ref for item in items]


def _body(net: Network, op: str, function: Callable[..., Any]) -> Callable[..., list[_native.TensorRef]]:
    """The function as the extension calls it: references in and out."""
    if not callable(function):
        raise TypeError(f'a body of {op} is a function of a network; {type(function).__name__} found')

    def call(data: _native.NetworkData, inputs: Sequence[_native.TensorRef]) -> list[_native.TensorRef]:
        from tenfold._network import Network, Value
        inner = Network(data=data)
        net._open = inner
        try:
            return _refs(inner, f'what a body of {op} returns', function(inner, *(Value(inner, ref) for ref in inputs)))
        finally:
            net._open = None
    return call


def _results(net: Network, refs: Sequence[_native.TensorRef]) -> Any:
    from tenfold._network import Value
    values = [Value(net, ref) for ref in refs]
    return values[0] if len(values) == 1 else values
