#!/usr/bin/env python3
"""Completed configurations of tenfold-server beside those of a real Triton with our backend, of models that are generated.

    triton_configs.py TENFOLD_SERVER TRITON_SH TRITON_DIR [--write=docs/reference/model-configs.md] [--keep=FOLDER]

TRITON_SH and TRITON_DIR: a script that starts a real Triton (`TRITON_SH serve TRITON_DIR REPOSITORY FLAG...`), and where it is unpacked.
Both servers get the same folder. Compared is the JSON of /v2/models/NAME/config, and for a model that fails the reason in the index.
"""

import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

X, Y = ['{name: "x" data_type: TYPE_FP32 dims: [ 4 ]}', '{name: "y" data_type: TYPE_FP32 dims: [ 4 ]}']
BOTH = f"input {X} output {Y} "
BATCHED = "max_batch_size: 8 " + BOTH
SQUARE = (
    'max_batch_size: 8 input {name: "x" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 2, 2 ] }} '
    'output {name: "y" data_type: TYPE_FP32 dims: [ 4 ] Y_RESHAPE}'
)


def save(path, x_shape, y_shape, extra=None):
    """y = x * 2, or x * s where there is a second input."""
    path.parent.mkdir(parents=True, exist_ok=True)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)]
    weights = [numpy_helper.from_array(np.array(2, np.float32), "s")]
    if extra == "second":
        inputs.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, x_shape))
        weights = []
    if extra == "default":
        inputs.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, []))
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, y_shape)]
    graph = helper.make_graph([helper.make_node("Mul", ["x", "s"], ["y"])], "test", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


MODELS = {
    "open": (["n", 4], ["n", 4]),
    "fixed": ([1, 4], [1, 4]),
    "vector": (["n"], ["n"]),
    "images": (["n", 3, "h", "w"], ["n", 3, "h", "w"]),
    "second": (["n", 4], ["n", 4], "second"),
    "scalar": ([], []),
    "square": (["n", 2, 2], ["n", 2, 2]),
}


def cases():
    """(model, text of its configuration), each once."""
    for model in MODELS:
        for text in ("", "max_batch_size: 0", "max_batch_size: 1", "max_batch_size: 16", "max_batch_size: -1"):
            yield model, text
    batching = [
        "",
        "preferred_batch_size: 4",
        "preferred_batch_size: [ 2, 4, 8 ]",
        "preferred_batch_size: 9",
        "preferred_batch_size: 0",
        "max_queue_delay_microseconds: 100",
        "preserve_ordering: true",
        "priority_levels: 3",
        "default_priority_level: 1",
        "priority_levels: 3 default_priority_level: 2",
        "priority_levels: 3 default_priority_level: 4",
        "priority_levels: 2 default_priority_level: 1 preserve_ordering: true",
        "priority_levels: 1 default_priority_level: 1 preserve_ordering: true",
        "default_queue_policy { max_queue_size: 7 }",
        "default_queue_policy { timeout_action: DELAY }",
        "default_queue_policy { default_timeout_microseconds: 5000 allow_timeout_override: true }",
        "priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 1 value { max_queue_size: 3 } }",
        "priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 value { max_queue_size: 3 } }",
    ]
    for text, base in itertools.product(batching, (BATCHED, "max_batch_size: 8 ", BOTH)):
        if base == BATCHED or text in batching[:6]:
            yield ("open" if base != BOTH else "fixed"), f"{base}dynamic_batching {{ {text} }}"
    policies = [
        "latest { num_versions: 1 }",
        "latest { num_versions: 3 }",
        "all { }",
        "specific { versions: 1 }",
        "specific { versions: [ 1, 2 ] }",
        "specific { versions: 9 }",
        "",
    ]
    for policy in policies:
        yield "open", f"{BATCHED}version_policy {{ {policy} }}"
    groups = [
        "",
        "count: 2",
        "kind: KIND_CPU",
        'count: 3 kind: KIND_CPU name: "mine"',
        "kind: KIND_AUTO",
        "kind: KIND_MODEL",
        "count: -1",
        "count: 0",
        "kind: KIND_CPU gpus: 0",
        'host_policy: "p" kind: KIND_CPU',
    ]
    for group in groups:
        yield "open", f"{BATCHED}instance_group {{ {group} }}"
    yield "open", BATCHED + "instance_group { kind: KIND_CPU } instance_group { kind: KIND_CPU count: 2 }"
    tensors = [
        "",
        'name: "x"',
        'name: "x" data_type: TYPE_FP32',
        'name: "x" data_type: TYPE_FP32 dims: [ 5 ]',
        'name: "x" data_type: TYPE_INT32 dims: [ 4 ]',
        'name: "x" data_type: TYPE_FP32 dims: [ -1 ]',
        'name: "x" data_type: TYPE_FP32 dims: [ -2 ]',
        'name: "x" data_type: TYPE_FP32 dims: [ 0 ]',
        'name: "z" data_type: TYPE_FP32 dims: [ 4 ]',
        'name: "x" data_type: TYPE_FP32 dims: [ 4, 1 ]',
        'name: "x" data_type: TYPE_FP32 dims: [ 2, 2 ] reshape { shape: [ 4 ] }',
        'name: "x" data_type: TYPE_FP32 dims: [ 2, 2 ] reshape { shape: [ 5 ] }',
        'name: "x" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ -1 ] }',
        'name: "x" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 0 ] }',
        'name: "x" data_type: TYPE_FP32 dims: [ 4 ] format: FORMAT_NCHW',
        'name: "x" data_type: TYPE_FP32 dims: [ 4 ] optional: true',
    ]
    for tensor in tensors:
        yield "open", f"max_batch_size: 8 input {{ {tensor} }} output {Y}"
    yield (
        "images",
        (
            'max_batch_size: 8 input { name: "x" data_type: TYPE_FP32 dims: [ 3, 8, 8 ] format: FORMAT_NCHW } '
            'output { name: "y" data_type: TYPE_FP32 dims: [ 3, -1, -1 ] }'
        ),
    )
    yield "open", f"max_batch_size: 8 input {X}"
    yield "open", f"max_batch_size: 8 output {Y}"
    yield "second", BATCHED
    yield "scalar", BOTH
    yield (
        "vector",
        'max_batch_size: 8 input {name: "x" data_type: TYPE_FP32 dims: [ 1 ] reshape { }} '
        'output {name: "y" data_type: TYPE_FP32 dims: [ 1 ] reshape { }}',
    )
    others = [
        "optimization { priority: PRIORITY_MAX }",
        "optimization { graph { level: 1 } }",
        "optimization { cuda { graphs: true } }",
        "optimization { input_pinned_memory { enable: false } }",
        "optimization { eager_batching: true gather_kernel_buffer_threshold: 4 }",
        "response_cache { enable: true }",
        "model_transaction_policy { decoupled: false }",
        "model_transaction_policy { decoupled: true }",
        'metric_tags { key: "a" value: "b" }',
        'parameters { key: "a" value { string_value: "b" } }',
        'parameters { key: "tenfold.threads" value { string_value: "1" } }',
        'parameters { key: "tenfold.device" value { string_value: "tpu" } }',
        'default_model_filename: "model.onnx"',
        'default_model_filename: "other.onnx"',
        'model_warmup { name: "w" batch_size: 2 inputs { key: "x" value { data_type: TYPE_FP32 dims: [ 4 ] zero_data: true } } }',
        'model_warmup { name: "w" batch_size: 1 inputs { key: "z" value { data_type: TYPE_FP32 dims: [ 4 ] zero_data: true } } }',
        'name: "another"',
        "foo: 1",
        "input [",
        "max_batch_size: 3",
        "sequence_batching { }",
        "ensemble_scheduling { }",
        'batch_input { kind: BATCH_ELEMENT_COUNT target_name: "x" data_type: TYPE_FP32 source_input: "x" }',
    ]
    for other in others:
        yield "open", BATCHED + other
    for model in ("square", "images", "second", "vector"):
        for text in (
            "max_batch_size: 4 dynamic_batching { preferred_batch_size: 2 }",
            "instance_group { count: 2 kind: KIND_CPU }",
            "version_policy { all { } }",
            'parameters { key: "tenfold.precision" value { string_value: "fp32" } }',
            "optimization { graph { level: -1 } }",
        ):
            yield model, text
    yield "square", SQUARE.replace("Y_RESHAPE", "reshape { shape: [ 2, 2 ] }")
    yield "square", SQUARE.replace("Y_RESHAPE", "")


def write_repository(folder):
    models = []
    for number, (model, text) in enumerate(cases()):
        name = f"c{number:03d}"
        save(folder / name / "1" / "model.onnx", *MODELS[model])
        save(
            folder / name / "2" / "model.onnx", *MODELS[model]
        ) if "versions: [ 1, 2 ]" in text or "num_versions: 3" in text or "all {" in text else None
        (folder / name / "config.pbtxt").write_text(f'backend: "tenfold"\n{text}\n')
        models.append((name, model, text))
    return models


def get(port, path, data=None):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data, timeout=30) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def answers(command, port, models):
    """{name: its configuration, or the reason why it failed}"""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            for _ in range(3000):
                time.sleep(0.2)
                try:
                    if get(port, "/v2/health/ready")[0] == 200:
                        break
                except OSError:
                    pass
                if process.poll() is not None:
                    log.seek(0)
                    sys.exit(log.read().decode(errors="replace")[-3000:])
            rows = get(port, "/v2/repository/index", b"{}")[1]
            log.seek(0)
            said = log.read().decode(errors="replace")
            found = {}
            for name, _, _ in models:
                status, answer = get(port, f"/v2/models/{name}/config")
                reasons = [row.get("reason", "") for row in rows if row["name"] == name and row.get("state") != "READY"]
                polled = re.findall(rf"Poll failed for model directory '{name}': (.*)", said)
                found[name] = answer if status == 200 else "; ".join(filter(None, reasons + polled)) or str(answer)
            return found
        finally:
            process.terminate()
            process.wait(timeout=120)


def flat(value, path=""):
    if isinstance(value, dict):
        return {k: v for key, one in value.items() for k, v in flat(one, f"{path}.{key}" if path else key).items()} or {
            path: {}
        }
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {k: v for i, one in enumerate(value) for k, v in flat(one, f"{path}[{i}]").items()}
    return {path: value}


def words(text):
    """A reason without what only one of the two puts around it."""
    text = text.strip().rstrip('".')
    while found := re.match(r"(Invalid argument|Internal|Unsupported|Not found|Unavailable|Already exists|model 'c\d+'): ", text):
        text = text[found.end() :]
    return text


def difference(ours, tritons):
    """Nothing where they are the same."""
    if isinstance(ours, dict) and isinstance(tritons, dict):
        a, b = flat(ours), flat(tritons)
        return {
            f: (a.get(f, "none"), b.get(f, "none")) for f in sorted({*a, *b}) if a.get(f, "none") != b.get(f, "none")
        }
    if isinstance(ours, dict) or isinstance(tritons, dict):
        return {"": tuple("served" if isinstance(one, dict) else "refused: " + words(one) for one in (ours, tritons))}
    return {} if words(tritons) in ours else {"refused by both": (words(ours), words(tritons))}


def page(models, ours, tritons):
    groups, same, refused = {}, 0, 0
    for name, model, text in models:
        found = difference(ours[name], tritons[name])
        same += not found
        refused += not found and not isinstance(ours[name], dict)
        for field, (a, b) in found.items():
            key = (
                re.sub(r"\[\d+\]", "", field),
                str(a).replace(name, "NAME")[:260],
                str(b).replace(name, "NAME")[:260],
            )
            short = text.replace(BOTH, "x, y; ").strip(" ;")
            groups.setdefault(key, []).append(f"{model}: `{short or 'no fields'}`")
    lines = [
        "# Configurations beside a real Triton",
        "",
        "Written by `tools/triton_configs.py`. The same models, with the same `config.pbtxt`, in a real Triton 2.51 with",
        "`libtriton_tenfold.so`, and in `tenfold serve`; compared is what both tell of them. `x, y` stands for an input and an output",
        "that are those of the model.",
        "",
        f"{len(models)} configurations: {same} alike, of which {refused} are refused by both in the same words. The others:",
        "",
        "| field | `tenfold serve` | Triton | configurations |",
        "|---|---|---|---|",
    ]
    for (field, a, b), texts in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        shown = texts[0] + (f", and {len(texts) - 1} more" if len(texts) > 1 else "")
        lines.append(
            "| "
            + " | ".join(
                cell.replace("|", "\\|").replace("\n", " ") for cell in (field or "whether it is served", a, b, shown)
            )
            + " |"
        )
    return "\n".join(lines) + "\n", same


def main():
    options = dict(arg[2:].split("=", 1) for arg in sys.argv[1:] if arg.startswith("--"))
    server, script, triton = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    folder = pathlib.Path(options.get("keep") or tempfile.mkdtemp())
    shutil.rmtree(folder, ignore_errors=True)
    models = write_repository(folder)
    flags = ["--exit-on-error=false", "--strict-readiness=false"]
    ours = answers(
        [
            server,
            f"--model-repository={folder}",
            *flags,
            "--http-port=18310",
            "--grpc-port=0",
            "--metrics-port=0",
            "--tune=never",
            "--threads=1",
            "--device=cpu",
        ],
        18310,
        models,
    )
    tritons = answers(
        [
            script,
            "serve",
            triton,
            str(folder),
            *flags,
            "--http-port=18320",
            "--grpc-port=18321",
            "--metrics-port=18322",
        ],
        18320,
        models,
    )
    text, same = page(models, ours, tritons)
    text = text.replace(str(folder), "DIR")
    if "write" in options:
        pathlib.Path(options["write"]).write_text(text)
    print(text)
    if "keep" not in options:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
