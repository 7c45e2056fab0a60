"""The objects of deploy/kubernetes and deploy/kserve, and their containers."""

import dataclasses
import functools
import pathlib

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast


@dataclasses.dataclass
class Object:
    file: str  # beside deploy/
    body: dict

    def __str__(self):
        return f"{self.file}: {self.body.get('kind')} {self.body.get('metadata', {}).get('name')}"


@dataclasses.dataclass
class Container:
    where: str
    body: dict
    pod: dict  # the pod's spec, or what of it the object has
    init: bool = False

    def flag(self, name):
        """The value of the last --name=value among the arguments; None: it is not there."""
        found = [word.split("=", 1)[1] for word in self.body.get("args", []) if word.startswith(f"--{name}=")]
        return found[-1] if found else None


def objects(deploy, *folders):
    for folder in folders:
        for path in sorted(pathlib.Path(deploy, folder).glob("*.yaml")):
            for body in read(path.read_text()):
                yield Object(f"{folder}/{path.name}", body)


@functools.cache
def read(text):
    return list(yaml.load_all(text, LOADER))


def pod_of(one):
    """Where an object has containers, and what there is of a pod's spec."""
    spec = one.body.get("spec", {})
    return {"Deployment": lambda: spec["template"]["spec"], "ClusterServingRuntime": lambda: spec,
            "InferenceService": lambda: spec["predictor"]}.get(one.body["kind"], dict)()


def containers(deploy, *folders):
    for one in objects(deploy, *folders):
        pod = pod_of(one)
        for key in ("containers", "initContainers"):
            for body in pod.get(key, []):
                yield Container(f"{one}, container {body['name']}", body, pod, key == "initContainers")


def is_server(container):
    return container.body.get("command") == ["tenfold-server"]


def runtimes(deploy):
    return {one.body["metadata"]["name"]: one.body for one in objects(deploy, "kserve") if one.body["kind"] == "ClusterServingRuntime"}
