"""Comparisons, truth values and bits."""
from __future__ import annotations

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import Operand, aten


def of_bool(call: Call, op: str, x: Value, y: Operand) -> Value:
    """A comparison, of bools as numbers where ONNX has none of bools."""
    x, y = call.compared(x, y)
    if x.dtype == 'bool' and op != 'Equal':
        x, y = call.cast(x, 'i32'), call.cast(y, 'i32')
    return call.add(op, x, y)


@aten('eq.Tensor', 'eq.Scalar', 'prims.eq.default')
def eq(call: Call, x: Value, y: Operand) -> Value: return of_bool(call, 'Equal', x, y)


@aten('ne.Tensor', 'ne.Scalar', 'prims.ne.default')
def ne(call: Call, x: Value, y: Operand) -> Value: return call.Not(of_bool(call, 'Equal', x, y))


@aten('lt.Tensor', 'lt.Scalar', 'prims.lt.default')
def lt(call: Call, x: Value, y: Operand) -> Value: return of_bool(call, 'Less', x, y)


@aten('le.Tensor', 'le.Scalar', 'prims.le.default')
def le(call: Call, x: Value, y: Operand) -> Value: return of_bool(call, 'LessOrEqual', x, y)


@aten('gt.Tensor', 'gt.Scalar', 'prims.gt.default')
def gt(call: Call, x: Value, y: Operand) -> Value: return of_bool(call, 'Greater', x, y)


@aten('ge.Tensor', 'ge.Scalar', 'prims.ge.default')
def ge(call: Call, x: Value, y: Operand) -> Value: return of_bool(call, 'GreaterOrEqual', x, y)


@aten('logical_and')
def logical_and(call: Call, x: Value, y: Value) -> Value: return call.And(call.cast(x, 'bool'), call.cast(y, 'bool'))


@aten('logical_or')
def logical_or(call: Call, x: Value, y: Value) -> Value: return call.Or(call.cast(x, 'bool'), call.cast(y, 'bool'))


@aten('logical_xor')
def logical_xor(call: Call, x: Value, y: Value) -> Value: return call.Xor(call.cast(x, 'bool'), call.cast(y, 'bool'))


@aten('logical_not')
def logical_not(call: Call, x: Value) -> Value: return call.Not(call.cast(x, 'bool'))


@aten('bitwise_and.Tensor', 'bitwise_and.Scalar', 'prims.bitwise_and.default')
def bitwise_and(call: Call, x: Value, y: Operand) -> Value: return bits(call, 'And', x, y)


@aten('bitwise_or.Tensor', 'bitwise_or.Scalar', 'prims.bitwise_or.default')
def bitwise_or(call: Call, x: Value, y: Operand) -> Value: return bits(call, 'Or', x, y)


@aten('bitwise_xor.Tensor', 'bitwise_xor.Scalar', 'prims.bitwise_xor.default')
def bitwise_xor(call: Call, x: Value, y: Operand) -> Value: return bits(call, 'Xor', x, y)


def bits(call: Call, op: str, x: Value, y: Operand) -> Value:
    x, y = call.computed(x, y)
    return call.add(op if call.dtype == 'bool' else 'Bitwise' + op, x, y)


@aten('bitwise_not', 'prims.bitwise_not.default')
def bitwise_not(call: Call, x: Value) -> Value: return call.Not(x) if x.dtype == 'bool' else call.BitwiseNot(x)


@aten('isinf')
def isinf(call: Call, x: Value) -> Value:
    if call.is_float(x):
        return call.IsInf(x)
    return call.Not(call.Equal(x, x))


@aten('isnan')
def isnan(call: Call, x: Value) -> Value:
    if call.is_float(x):
        return call.IsNaN(x)
    return call.Not(call.Equal(x, x))


@aten('where.self', 'prims.where.default')
def where(call: Call, condition: Value, x: Operand, y: Operand) -> Value:
    return call.Where(call.cast(condition, 'bool'), *call.computed(x, y))
