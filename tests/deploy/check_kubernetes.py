#!/usr/bin/env python3
"""deploy/kubernetes by the schemas of several Kubernetes. kubernetes-validate passes kinds that it has no schema of: here they fail."""

import sys

from broken import LEFT_OUT, run

try:
    import kubernetes_validate
except ImportError:
    print("kubernetes-validate is not installed: script/deploy-check installs it")
    sys.exit(LEFT_OUT)
from objects import objects

VERSIONS = ("1.29", "1.33", ".".join(kubernetes_validate.latest_version().split(".")[:2]))

FAULTS = [
    ("kubernetes/deployment.yaml", "apiVersion: apps/v1", "apiVersion: apps/v9", "schema"),
    ("kubernetes/deployment.yaml", "readinessProbe:", "readynessProbe:", "readynessProbe"),
    ("kubernetes/service.yaml", "port: 8000", 'port: "http"', "http"),
    ("kubernetes/storage.yaml", "accessModes: [ReadOnlyMany]", "accessModes: ReadOnlyMany", "ReadOnlyMany"),
    ("kubernetes/disruption-budget.yaml", "unhealthyPodEvictionPolicy", "unhealthyPodEviction", "unhealthyPodEviction"),
    ("kubernetes/autoscaler.yaml", "maxReplicas: 8", "maxReplicas: many", "many"),
    ("kubernetes/adapter.yaml", "data:", "dataa:", "dataa"),
    ("kubernetes/network-policy.yaml", "podSelector:\n    matchLabels", "podSelector:\n    labels", "labels"),
]


def problems(deploy):
    for one in objects(deploy, "kubernetes"):
        for version in VERSIONS:
            try:
                used = kubernetes_validate.validate(one.body, version, strict=True)
                if used != version:
                    yield f"{one}: validated for {used}, not for {version}"
            except kubernetes_validate.SchemaNotFoundError as error:
                yield f"{one}: no schema: {error.message}"
            except kubernetes_validate.ValidationError as error:
                yield f"{one}, Kubernetes {version}: {'.'.join(map(str, error.path))}: {error.message}"


if __name__ == "__main__":
    sys.exit(run(problems, FAULTS))
