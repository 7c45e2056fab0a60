"""The repository that both servers have."""

import pathlib
import sys

import numpy as np
from onnx import TensorProto as T
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests"))
import serve_case  # noqa: E402
import triton_models  # noqa: E402

ENGINE = "".join(
    f'parameters {{ key: "tenfold.{key}" value {{ string_value: "{value}" }} }}\n'
    for key, value in (("threads", 1), ("precision", "fp32"), ("tune", "never"))
)
BACKEND = 'backend: "tenfold"\ninstance_group { count: 1 kind: KIND_CPU }\n' + ENGINE
TYPES = {"i": ("INT64", T.INT64), "u": ("UINT8", T.UINT8), "b": ("BOOL", T.BOOL), "h": ("FP16", T.FLOAT16), "d": ("FP64", T.DOUBLE)}


def twice(name, kind):
    return helper.make_node("Concat", [name, name], [f"{name}2"], axis=1), (name, kind, ["n", 2]), (f"{name}2", kind, ["n", 4])


def types():
    """Twice the same row behind each other, of several types."""
    nodes, inputs, outputs = zip(*(twice(name, kind) for name, (_, kind) in TYPES.items()))
    return triton_models.model(list(nodes), inputs, outputs)


def write(folder):
    """Two models have the same file; `counted` is asked by nobody but the tests of counters, `later` is loaded by requests."""
    tanh = pathlib.Path(serve_case.save_tanh(str(folder / "tanh.onnx"))).read_bytes()
    plain = triton_models.with_default()
    batched = BACKEND + "max_batch_size: 4\n"
    priorities = batched + "dynamic_batching { priority_levels: 2 default_priority_level: 2 }\n"
    made = {
        "m": (tanh, batched),
        "counted": (tanh, batched),
        "later": (tanh, batched),
        "levels": (tanh, priorities),
        "plain": (plain.SerializeToString(), BACKEND + 'input { name: "x" data_type: TYPE_FP32 dims: [ 3 ] }\n'
                  'input { name: "scale" data_type: TYPE_FP32 dims: [ 1 ] optional: true }\n'
                  'output { name: "y" data_type: TYPE_FP32 dims: [ 3 ] }\n'),
        "strings": (triton_models.strings().SerializeToString(), batched),
        "types": (types().SerializeToString(), batched),
        "broken": (b"this is no model", batched),
    }  # fmt: skip
    for name, (model, config) in made.items():
        version = folder / "repository" / name / "1"
        version.mkdir(parents=True)
        (version / "model.onnx").write_bytes(model)
        (version.parent / "config.pbtxt").write_text(config)
    return folder / "repository", [name for name in made if name not in ("later", "broken")]


def values(seed=0):
    """Inputs of the model `types`."""
    rng = np.random.default_rng(seed)
    return {
        "i": rng.integers(-(2**62), 2**62, (1, 2)),
        "u": rng.integers(0, 256, (1, 2)).astype(np.uint8),
        "b": rng.integers(0, 2, (1, 2)).astype(bool),
        "h": rng.normal(size=(1, 2)).astype(np.float16),
        "d": rng.normal(size=(1, 2)),
    }
