"""Repository, settings of traces and logs, statistics and metrics: what changes the server, or counts."""

from .ask import Http
from .json_bodies import inference, json_request, rows, with_input

REPOSITORY = "/v2/repository"


def config(text):
    return {"parameters": {"config": text}}


def repository():
    load, unload = f"{REPOSITORY}/models/later/load", f"{REPOSITORY}/models/later/unload"
    yield Http("the index", f"{REPOSITORY}/index", b"", compare="keys")
    yield Http("the index of what is ready", f"{REPOSITORY}/index", {"ready": True}, compare="keys")
    yield Http("the index, ready: 1", f"{REPOSITORY}/index", {"ready": 1})
    yield Http("the index, no JSON", f"{REPOSITORY}/index", "nonsense")
    yield Http("the index, a list", f"{REPOSITORY}/index", "[]")
    yield Http("GET of the index", f"{REPOSITORY}/index")
    yield Http("the index of a repository", f"{REPOSITORY}/mine/index", b"")
    yield Http("a model that is not loaded", inference("later"), json_request(rows(0)))
    yield Http("its readiness", "/v2/models/later/ready")
    yield Http("loading it", load, b"")
    yield Http("then it answers", inference("later"), json_request(rows(0)))
    yield Http("loading it again", load, b"")
    yield Http("loading it by another configuration", load, config('{"backend":"tenfold","max_batch_size":2}'))
    yield Http("then 3 rows are too many", inference("later"), json_request(rows(0, 3)))
    yield Http("loading, config that is no JSON", load, config("nonsense"))
    yield Http("loading, config that is a number", load, config(7))
    yield Http("loading, config of a field that is not there", load, config('{"backend":"tenfold","batch":2}'))
    yield Http("loading, config of -1 rows", load, config('{"backend":"tenfold","max_batch_size":-1}'))
    yield Http("loading, files", load, {"parameters": {"config": '{"backend":"tenfold"}', "file:1/model.onnx": "AAAA"}})
    yield Http("loading, a parameter of one's own", load, {"parameters": {"mine": "x"}})
    yield Http("loading, no JSON", load, "nonsense")
    yield Http("loading, parameters: 1", load, {"parameters": 1})
    yield Http("GET of load", load)
    yield Http("it serves on", inference("later"), json_request(rows(0)))
    yield Http("loading what is not there", f"{REPOSITORY}/models/other/load", b"")
    yield Http("loading ..", f"{REPOSITORY}/models/../load", b"")
    yield Http("loading %2e%2e%2fm", f"{REPOSITORY}/models/%2e%2e%2fm/load", b"")
    yield Http("loading a name of 4 kB", f"{REPOSITORY}/models/{'a' * 4096}/load", b"")
    yield Http("loading a file that is no model", f"{REPOSITORY}/models/broken/load", b"")
    yield Http("loading from a repository", f"{REPOSITORY}/mine/models/later/load", b"")
    yield Http("unloading, unload_dependents: 1", unload, {"parameters": {"unload_dependents": 1}})
    yield Http("unloading, no JSON", unload, "nonsense")
    yield Http("unloading it", unload, {"parameters": {"unload_dependents": True}})
    yield Http("unloading what is not there", f"{REPOSITORY}/models/other/unload", b"")


def settings():
    for path in ("/v2/trace/setting", "/v2/models/m/trace/setting", "/v2/models/other/trace/setting", "/v2/logging"):
        yield Http(f"GET {path}", path, compare="keys")
    for name, path, body in (
        ("trace_level NONSENSE", "/v2/trace/setting", {"trace_level": ["NONSENSE"]}),
        ("trace_rate -1", "/v2/trace/setting", {"trace_rate": "-1"}),
        ("trace_rate x", "/v2/trace/setting", {"trace_rate": "x"}),
        ("trace_count 2^64", "/v2/trace/setting", {"trace_count": str(2**64)}),
        ("a trace setting that is not there", "/v2/trace/setting", {"mine": "1"}),
        ("trace settings, no JSON", "/v2/trace/setting", "nonsense"),
        ("log_verbose_level -1", "/v2/logging", {"log_verbose_level": -1}),
        ("log_format nonsense", "/v2/logging", {"log_format": "nonsense"}),
        ("log_info 1", "/v2/logging", {"log_info": 1}),
        ("a log setting that is not there", "/v2/logging", {"mine": 1}),
        ("log settings, no JSON", "/v2/logging", "nonsense"),
    ):
        yield Http(name, path, body, compare="keys")


def counted():
    """`counted` has this many requests, and what both count of them is compared."""
    for count in (1, 2, 4, 3):
        yield Http(f"{count} rows that are counted", inference("counted"), json_request(rows(1, count)))
    yield Http("a wrong one that is counted", inference("counted"), with_input(shape=[1, 7]))
    yield Http("the counts of a model", "/v2/models/counted/stats", compare="counts")
    yield Http("the counts of a version", "/v2/models/counted/versions/1/stats", compare="counts")
    yield Http("metrics", "/metrics", compare="metrics", metrics=True)


def asks():
    yield from repository()
    yield from settings()
    yield from counted()
