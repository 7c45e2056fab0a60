"""Whether two answers are alike, and what of them is told where they are not."""

import json
import re

import numpy as np

# What Triton counts, and may be compared where requests come one after the other.
COUNTS = ("inference_count", "execution_count")
METRICS = ("nv_inference_request_success", "nv_inference_count", "nv_inference_exec_count")


def close(a, b):
    """Whether numbers in two answers differ by rounding alone."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 1e-5
    if isinstance(a, bytes) and isinstance(b, bytes) and a != b:
        return close_bytes(a, b)
    return a == b


def close_bytes(a, b):
    """Tensors as bytes: equal, or floats that differ by rounding alone."""
    if a == b:
        return True
    same_size = len(a) == len(b) and len(a) % 4 == 0
    return same_size and np.allclose(np.frombuffer(a, np.float32), np.frombuffer(b, np.float32), atol=1e-5, equal_nan=True)


def keys(value, at=""):
    """Names of members, without those that one of the two has for itself."""
    if isinstance(value, dict):
        return {f"{at}.{k}".lstrip(".") for k in value} | {one for k, v in value.items() for one in keys(v, f"{at}.{k}".lstrip("."))}
    if isinstance(value, list):
        return {one for v in value for one in keys(v, at + "[]")}
    return set()


def counts(answer):
    stats = answer.value["model_stats"][0]
    sizes = {int(b["batch_size"]): int(b["compute_infer"]["count"]) for b in stats.get("batch_stats", [])}
    success = stats["inference_stats"].get("success", {}).get("count", 0)   # protobuf leaves zeros out
    return {**{name: int(stats.get(name, 0)) for name in COUNTS}, "success": int(success), "batches": sizes}


def metrics(answer):
    found = {}
    for line in str(answer.value).splitlines():
        name, _, labels = line.partition("{")
        if name in METRICS and 'model="counted"' in labels:
            found[name] = float(labels.rsplit(" ", 1)[1])
    families = set(re.findall(r"^# TYPE (nv_\S+)", str(answer.value), re.M))
    return {"counted": found, "families": sorted(families)}


def alike(ask, ours, triton):
    if ours.status != triton.status:
        return False
    if not ours.good:
        return ours.words == triton.words
    if ask.compare == "status":
        return True
    if ask.compare == "keys":
        return keys(triton.value) <= keys(ours.value)
    if ask.compare == "counts":
        return counts(ours) == counts(triton)
    if ask.compare == "metrics":
        a, b = metrics(ours), metrics(triton)
        return a["counted"] == b["counted"] and set(b["families"]) <= set(a["families"])
    return close(ours.value, triton.value) and close_bytes(ours.tensors, triton.tensors)


def other_numbers(ask, ours, triton):
    """Whether both answered with tensors, and these differ: there is no reason for that."""

    def outputs(answer):
        return answer.value.get("outputs") if answer.good and isinstance(answer.value, dict) else None

    a, b = outputs(ours), outputs(triton)
    return ask.compare == "all" and a is not None and b is not None and not (close(a, b) and close_bytes(ours.tensors, triton.tensors))


def shown(ask, answer, other):
    """A cell of the table."""
    words = answer.words
    if answer.good and other.good:
        if ask.compare == "keys":
            words = "without " + ", ".join(sorted(keys(other.value) - keys(answer.value))) if keys(other.value) - keys(answer.value) else ""
        elif ask.compare in ("counts", "metrics"):
            words = json.dumps((counts if ask.compare == "counts" else metrics)(answer))
        elif not words:
            words = json.dumps(answer.value, default=repr)
    words = re.sub(r"(.)\1{40,}", r"\1...\1", words)
    cell = f"{answer.status} {words}".strip().replace("|", "\\|").replace("\n", " ")
    cell = "".join(c if c.isprintable() else repr(c)[1:-1] for c in cell).replace("<", "\\<")
    return cell[:197] + "..." if len(cell) > 200 else cell
