"""Models of a path, and values for their inputs."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import onnx

from tenfold.errors import FileError, InvalidArgument, InvalidModel

LARGEST = 1 << 31   # bytes of a protobuf message, which is how a model goes to ONNX Runtime


def files_of(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith('.onnx'))
    if not found:
        raise FileError(f'{path}: no .onnx file is in this folder')
    return found


def read(path: str) -> onnx.ModelProto:
    """The model with its external weights inside, and its functions in the place of their calls."""
    try:
        model = onnx.load(path)
    except OSError as error:
        raise FileError(f'{path}: {error.strerror or error}') from error
    except Exception as error:   # protobuf's class depends on its version
        raise InvalidModel(f'{path}: no ONNX model: {error}') from error
    if model.ByteSize() >= LARGEST:
        raise InvalidModel(f'{path}: {model.ByteSize()} bytes with its weights; models below 2 GiB are compared')
    if model.functions:
        from onnx import inliner
        model = inliner.inline_local_functions(model)
    return model


def inputs_of(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    weights = {w.name for w in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in weights]


def shape_of(value: onnx.ValueInfoProto, shapes: dict[str, list[int]], alone: bool) -> list[int]:
    """As given; else the model's, with 1 for each dynamic extent."""
    own = [d.dim_value if d.HasField('dim_value') else 1 for d in value.type.tensor_type.shape.dim]
    given = shapes.get(value.name, shapes.get('') if alone else None)
    if given is not None and len(given) != len(own):
        raise InvalidArgument(f'--shapes: input {value.name!r} has {len(own)} dimensions, not {len(given)}')
    return own if given is None else given


def random_inputs(model: onnx.ModelProto, shapes: dict[str, list[int]]) -> dict[str, Any]:
    """Floats from a normal distribution; ones for integers, which are ids and masks where a model has such inputs."""
    inputs = inputs_of(model)
    if unknown := set(shapes) - {i.name for i in inputs} - {''}:
        raise InvalidArgument(f'--shapes: there is no input {min(unknown)!r}; there are {", ".join(i.name for i in inputs)}')
    random = np.random.default_rng(0)
    found = {}
    for value in inputs:
        if not value.type.HasField('tensor_type'):
            raise InvalidModel(f'input {value.name!r} is no tensor: it cannot be compared')
        shape = shape_of(value, shapes, len(inputs) == 1)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if dtype == object:
            found[value.name] = np.full(shape, 'a', object)
        elif np.issubdtype(dtype, np.floating):
            found[value.name] = random.standard_normal(shape).astype(dtype)
        else:
            found[value.name] = np.ones(shape, dtype)
    return found
