#!/usr/bin/env python3
"""What deploy/kubernetes and deploy/kserve promise beyond their schemas: rights, limits, probes that differ, times that fit each other."""

import sys

try:
    import yaml
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
from broken import run
from objects import containers, is_server, objects, pod_of, runtimes

GRACE = 2  # seconds beside its own limits, after which the server ends its workers
FLAGS = {"v2": "http-port", "grpc-v2": "grpc-port"}

FAULTS = [
    ("kubernetes/deployment.yaml", "runAsNonRoot: true", "runAsNonRoot: false", "runAsNonRoot"),
    ("kubernetes/deployment.yaml", "drop: [ALL]", "drop: [NET_RAW]", "drop"),
    ("kubernetes/deployment.yaml", "type: RuntimeDefault", "type: Unconfined", "seccomp"),
    ("kubernetes/deployment.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "readOnlyRootFilesystem"),
    ("kubernetes/deployment.yaml", "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true", "allowPrivilegeEscalation"),
    ("kubernetes/deployment.yaml", "limits: {cpu", "limit: {cpu", "limits"),
    ("kubernetes/deployment.yaml", "terminationGracePeriodSeconds: 50",
     "terminationGracePeriodSeconds: 40", "terminationGracePeriodSeconds"),
    ("kubernetes/deployment.yaml", "--exit-delay-secs=10", "--exit-delay-secs=2", "exit-delay"),
    ("kubernetes/deployment.yaml", "path: /v2/health/live, port: http}\n            periodSeconds: 1\n",
     "path: /v2/health/ready, port: http}\n            periodSeconds: 1\n", "startupProbe"),
    ("kubernetes/deployment.yaml", "path: /v2/health/ready", "path: /v2/health/live", "readinessProbe"),
    ("kubernetes/deployment.yaml", "enableServiceLinks: false", "enableServiceLinks: true", "enableServiceLinks"),
    ("kubernetes/deployment.yaml", "containerPort: 8000", "containerPort: 8080", "port"),
    ("kubernetes/deployment.yaml", "claimName: tenfold-cache", "claimName: cache", "claim"),
    ("kubernetes/deployment.yaml", "mountPath: /cache", "mountPath: /caches", "plan-cache-dir"),
    ("kubernetes/service.yaml", "targetPort: http", "targetPort: web", "targetPort"),
    ("kubernetes/service.yaml", "selector: {app.kubernetes.io/name: tenfold}", "selector: {app: tenfold}", "select"),
    ("kubernetes/autoscaler.yaml", "kind: Deployment, name: tenfold", "kind: Deployment, name: server", "scales"),
    ("kubernetes/autoscaler.yaml", "name: tenfold_queue_us", "name: tenfold_queue", "metric"),
    ("kubernetes/adapter.yaml", "tenfold:queue_us:mean2m{namespace", "tenfold:queue_us:mean{namespace", "rules.yml"),
    ("kubernetes/network-policy.yaml", "port: 8001", "port: 9001", "port"),
    ("kserve/runtime-repository.yaml", "drop: [ALL]", "drop: []", "drop"),
    ("kserve/runtime-onnx.yaml", "--name={{.Name}}", "--name=model", "Name"),
    ("kserve/runtime-encoder.yaml", "/v2/health/ready", "/v2/health/live", "readinessProbe"),
    ("kserve/runtime-triton.yaml", "limits: {cpu", "limit: {cpu", "limits"),
    ("kserve/inference-onnx.yaml", "terminationGracePeriodSeconds: 50",
     "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds"),
    ("kserve/inference-onnx-grpc.yaml", "containerPort: 9000", "containerPort: 8080", "port"),
    ("kserve/inference-encoder.yaml", "enableServiceLinks: false", "enableServiceLinks: true", "enableServiceLinks"),
    ("kserve/inference-triton.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "readOnlyRootFilesystem"),
]


def rights(container):
    pod, own = container.pod.get("securityContext", {}), container.body.get("securityContext", {})
    wanted = {"allowPrivilegeEscalation": False, "privileged": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    for key, value in wanted.items():
        if own.get(key) != value:
            yield f"{container.where}: {key} is {own.get(key)}, not {value}"
    both = {**pod, **own}
    if both.get("runAsNonRoot") is not True or not both.get("runAsUser"):
        yield f"{container.where}: runAsNonRoot and a runAsUser above 0 are wanted"
    if both.get("seccompProfile") != {"type": "RuntimeDefault"}:
        yield f"{container.where}: the seccomp profile is {both.get('seccompProfile')}, not RuntimeDefault"
    for key in ("cpu", "memory", "ephemeral-storage"):
        if key not in container.body.get("resources", {}).get("limits", {}):
            yield f"{container.where}: limits has no {key}"


def probes(container):
    seconds = {}
    for name, path in (("startupProbe", "live"), ("readinessProbe", "ready"), ("livenessProbe", "live")):
        probe = container.body.get(name, {})
        if probe.get("httpGet", {}).get("path") != f"/v2/health/{path}":
            yield f"{container.where}: {name} does not ask /v2/health/{path}: a model that tunes is alive, and not ready"
        seconds[name] = probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3)
    if len(set(seconds.values())) < 3:
        yield f"{container.where}: probes have the same patience: {seconds}"
    delay = container.flag("exit-delay-secs")
    if is_server(container) and (not delay or int(delay) <= seconds["readinessProbe"]):
        yield f"{container.where}: --exit-delay-secs={delay} is over before readiness is seen ({seconds['readinessProbe']} s)"


def ports(container):
    named = {one.get("name"): one["containerPort"] for one in container.body.get("ports", [])}
    taken = {int(container.flag(flag) or default) for flag, default in (("http-port", 8000), ("grpc-port", 8001), ("metrics-port", 8002))}
    for port in named.values():
        if port not in taken:
            yield f"{container.where}: nothing listens on the port {port}"
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        port = container.body.get(name, {}).get("httpGet", {}).get("port")
        if named.get(port, port) not in taken:
            yield f"{container.where}: {name} asks the port {port}, where nothing listens"


def volumes(container):
    known = {one["name"] for one in container.pod.get("volumes", [])}
    mounts = {one["mountPath"]: one for one in container.body.get("volumeMounts", [])}
    for one in mounts.values():
        if known and one["name"] not in known:
            yield f"{container.where}: there is no volume {one['name']}"
    for flag in ("plan-cache-dir", "model-repository"):
        folder = container.flag(flag)
        if folder and folder not in mounts:
            yield f"{container.where}: --{flag}={folder} is no volume's"


def needed_seconds(container):
    return int(container.flag("exit-delay-secs") or 0) + int(container.flag("exit-timeout-secs") or 30) + GRACE


def ends(where, pod, servers):
    """The pod's own times."""
    if pod.get("enableServiceLinks") is not False:
        yield f"{where}: enableServiceLinks has to be false: a service's TENFOLD_PORT would be read as a flag"
    if pod.get("automountServiceAccountToken") is not False:
        yield f"{where}: automountServiceAccountToken has to be false: the server asks nothing of Kubernetes"
    grace = pod.get("terminationGracePeriodSeconds", 30)
    for container in servers:
        if grace < needed_seconds(container):
            yield f"{where}: terminationGracePeriodSeconds {grace} is less than the server may take, {needed_seconds(container)}"


def kubernetes_pieces(deploy):
    """That the objects of deploy/kubernetes name each other rightly."""
    all_of = list(objects(deploy, "kubernetes"))
    deployment = next(one.body for one in all_of if one.body["kind"] == "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    named = {one["name"]: one["containerPort"] for one in container["ports"]}
    claims = {one.body["metadata"]["name"] for one in all_of if one.body["kind"] == "PersistentVolumeClaim"}
    for volume in pod_of(next(one for one in all_of if one.body["kind"] == "Deployment"))["volumes"]:
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if claim and claim not in claims:
            yield f"deployment: there is no claim {claim}"
    rules = (deploy / "monitoring/rules.yml").read_text()
    for one in all_of:
        spec, kind = one.body.get("spec", {}), one.body["kind"]
        selector = {"Service": spec.get("selector"), "PodDisruptionBudget": spec.get("selector", {}).get("matchLabels"),
                    "NetworkPolicy": spec.get("podSelector", {}).get("matchLabels")}.get(kind)
        if kind in ("Service", "PodDisruptionBudget", "NetworkPolicy") and (not selector or not selector.items() <= labels.items()):
            yield f"{one} selects {selector}, and the pods have {labels}"
        if kind == "Service":
            yield from (f"{one}: targetPort {port['targetPort']} is no port of the container" for port in spec["ports"]
                        if port["targetPort"] not in named)
        if kind == "NetworkPolicy":
            yield from (f"{one}: the port {port['port']} is none of the container" for rule in spec["ingress"] for port in rule["ports"]
                        if port["port"] not in named.values())
        if kind == "HorizontalPodAutoscaler":
            target = spec["scaleTargetRef"]
            if (target["kind"], target["name"]) != ("Deployment", deployment["metadata"]["name"]):
                yield f"{one} scales {target}, which is not there"
            given = [rule["name"]["as"] for each in all_of if each.body["kind"] == "ConfigMap"
                     for rule in yaml.safe_load(each.body["data"]["config.yaml"])["rules"]]
            yield from (f"{one}: the adapter gives no metric {metric['pods']['metric']['name']}" for metric in spec["metrics"]
                        if metric["pods"]["metric"]["name"] not in given)
        if kind == "ConfigMap":
            for rule in yaml.safe_load(one.body["data"]["config.yaml"])["rules"]:
                for query in (rule["seriesQuery"], rule["metricsQuery"].split("(")[-1]):
                    if f"record: {query.split('{')[0]}\n" not in rules:
                        yield f"{one}: {query.split('{')[0]} is no record of monitoring/rules.yml"


def kserve_pieces(deploy):
    known = runtimes(deploy)
    servers = {name: [c for c in containers(deploy, "kserve") if name == c.where.split(",")[0].split()[-1]] for name in known}
    for one in objects(deploy, "kserve"):
        spec = one.body["spec"]
        if one.body["kind"] == "ClusterServingRuntime":
            args = spec["containers"][0]["args"]
            if not any("=/mnt/models" in word for word in args) and "--name={{.Name}}" not in args:
                yield f"{one}: the model has not the service's name: --name={{{{.Name}}}} is wanted"
            continue
        predictor = spec["predictor"]
        runtime = servers.get(predictor["model"]["runtime"], [])
        yield from ends(str(one), predictor, runtime)
        wanted = FLAGS[predictor["model"]["protocolVersion"]]
        for port in predictor["model"].get("ports", []) if runtime else []:
            if str(port["containerPort"]) != runtime[0].flag(wanted):
                yield f"{one}: the port {port['containerPort']} is not --{wanted}={runtime[0].flag(wanted)} of its runtime"


def problems(deploy):
    for container in containers(deploy, "kubernetes", "kserve"):
        yield from rights(container)
        yield from volumes(container)
        if not container.init:
            yield from probes(container)
            yield from ports(container)
        if container.where.startswith("kubernetes/") and not container.init:
            yield from ends(container.where, container.pod, [container])
    yield from kubernetes_pieces(deploy)
    yield from kserve_pieces(deploy)


if __name__ == "__main__":
    sys.exit(run(problems, FAULTS))
