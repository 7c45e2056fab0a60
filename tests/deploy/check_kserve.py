#!/usr/bin/env python3
"""deploy/kserve, field by field: KServe's objects by the classes of its Python package, Kubernetes' parts of them by Kubernetes' schemas.

The classes' tables are read and not imported, for importing them wants the whole of what KServe depends on.
"""

import ast
import functools
import importlib.util
import json
import pathlib
import re
import sys

from broken import LEFT_OUT, run

MODELS = importlib.util.find_spec("kserve")
if not MODELS or not importlib.util.find_spec("kubernetes_validate"):
    print("kserve or kubernetes-validate is not installed: script/deploy-check installs them")
    sys.exit(LEFT_OUT)
import jsonschema
import kubernetes_validate
import referencing
from objects import objects, runtimes

FOLDER = pathlib.Path(MODELS.submodule_search_locations[0], "models")
ROOTS = {("serving.kserve.io/v1alpha1", "ClusterServingRuntime"): "V1alpha1ClusterServingRuntime",
         ("serving.kserve.io/v1beta1", "InferenceService"): "V1beta1InferenceService"}
# Kubernetes' own classes, where their names are not io.k8s.api.core.v1.*.
ELSEWHERE = {"V1ObjectMeta": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
             "K8sIoApiAppsV1DeploymentStrategy": "io.k8s.api.apps.v1.DeploymentStrategy"}
PLAIN = {"str": str, "int": int, "bool": bool, "object": dict}

FAULTS = [
    ("kserve/runtime-repository.yaml", "protocolVersions: [v2", "protocolVersion: [v2", "protocolVersion"),
    ("kserve/runtime-repository.yaml", "kind: ClusterServingRuntime", "kind: ServerRuntime", "ServerRuntime"),
    ("kserve/runtime-onnx.yaml", "containers:", "initContainers: []\n  containers:", "initContainers"),
    ("kserve/runtime-onnx.yaml", "protocolVersions: [v2, grpc-v2]", "protocolVersions: [v3]", "v3"),
    ("kserve/runtime-encoder.yaml", "periodSeconds: 1\n", "periodSecond: 1\n", "periodSecond"),
    ("kserve/runtime-triton.yaml", "emptyDir: {sizeLimit: 256Mi}}", "emptyDirectory: {sizeLimit: 256Mi}}", "emptyDirectory"),
    ("kserve/inference-onnx.yaml", "storageUri:", "storageURI:", "storageURI"),
    ("kserve/inference-onnx.yaml", "runtime: tenfold-onnx", "runtime: tenfold-onyx", "tenfold-onyx"),
    ("kserve/inference-onnx-grpc.yaml", "containerPort: 9000", "containerPort: http", "http"),
    ("kserve/inference-encoder.yaml", "modelFormat: {name: tenfold-encoder}", "modelFormat: {name: encoder}", "format"),
    ("kserve/inference-triton.yaml", "mountPath: /backend", "mountpath: /backend", "mountpath"),
]


@functools.cache
def tables():
    """For each class of KServe's: the classes of its fields, by the names that YAML has, and those it must have."""
    found = {}
    for path in FOLDER.glob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ClassDef):
                continue
            parts = {target.id: ast.literal_eval(one.value) for one in node.body if isinstance(one, ast.Assign)
                     for target in one.targets if isinstance(target, ast.Name) and target.id in ("openapi_types", "attribute_map")}
            if len(parts) == 2:
                needed = re.findall(r"client_side_validation and (\w+) is None", text)
                found[node.name] = ({parts["attribute_map"][name]: kind for name, kind in parts["openapi_types"].items()},
                                    {parts["attribute_map"][name] for name in needed})
    return found


@functools.cache
def schemas():
    folder = pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"
    return json.loads((folder / f"v{kubernetes_validate.latest_version()}-local-strict/_definitions.json").read_text())


def check(kind, value, where):
    if match := re.fullmatch(r"list\[(.*)\]", kind):
        if not isinstance(value, list):
            yield f"{where} is no list"
            return
        for i, one in enumerate(value):
            yield from check(match[1], one, f"{where}[{i}]")
    elif match := re.fullmatch(r"dict\(str, (.*)\)", kind):
        if not isinstance(value, dict):
            yield f"{where} is no map"
            return
        for key, one in value.items():
            yield from check(match[1], one, f"{where}.{key}")
    elif kind in PLAIN:
        if type(value) is not PLAIN[kind]:
            yield f"{where} is {value!r}, and takes {kind}"
    elif kind in tables():
        yield from check_fields(*tables()[kind], value, where)
    else:
        yield from check_kubernetes(kind, value, where)


def check_fields(fields, needed, value, where):
    if not isinstance(value, dict):
        yield f"{where} is {value!r}, and takes fields"
        return
    for name in needed - set(value):
        yield f"{where} wants {name}"
    for name, one in value.items():
        if name in fields:
            yield from check(fields[name], one, f"{where}.{name}")
        else:
            yield f"{where} has no field {name}"


def check_kubernetes(kind, value, where):
    name = ELSEWHERE.get(kind, "io.k8s.api.core.v1." + kind.removeprefix("V1"))
    if name not in schemas()["$defs"]:
        yield f"{where}: there is no schema of {kind}"
        return
    registry = referencing.Resource.from_contents(schemas()) @ referencing.Registry()
    validator = jsonschema.Draft202012Validator({"$ref": f"{schemas()['$id']}#/$defs/{name}"}, registry=registry)
    for error in validator.iter_errors(value):
        yield f"{where}.{'.'.join(map(str, error.path))}: {error.message}"


def check_runtime_of(one, known):
    """What the schema cannot know: the runtime is there, and takes this format and protocol."""
    model = one.body["spec"]["predictor"].get("model", {})
    runtime = known.get(model.get("runtime"))
    if not runtime:
        yield f"{one}: there is no runtime {model.get('runtime')} in deploy/kserve"
        return
    name = model.get("modelFormat", {}).get("name")
    if name not in [each.get("name") for each in runtime["spec"].get("supportedModelFormats", [])]:
        yield f"{one}: the runtime does not take the format {name}"
    if model.get("protocolVersion") not in runtime["spec"].get("protocolVersions", []):
        yield f"{one}: the runtime does not speak {model.get('protocolVersion')}"
    volumes = {each["name"] for each in runtime["spec"].get("volumes", [])}
    for container in one.body["spec"]["predictor"].get("initContainers", []):
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                yield f"{one}: the runtime has no volume {mount['name']}"


def problems(deploy):
    known = runtimes(deploy)
    for one in objects(deploy, "kserve"):
        root = ROOTS.get((one.body.get("apiVersion"), one.body.get("kind")))
        if not root:
            yield f"{one}: {one.body.get('apiVersion')} has no {one.body.get('kind')}"
            continue
        yield from check(root, one.body, str(one))
        if root == "V1beta1InferenceService":
            yield from check_runtime_of(one, known)
        else:
            for each in set(one.body["spec"].get("protocolVersions", [])) - {"v1", "v2", "grpc-v1", "grpc-v2"}:
                yield f"{one}: there is no protocol {each}"


if __name__ == "__main__":
    sys.exit(run(problems, FAULTS))
