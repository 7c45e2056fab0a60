"""Names, versions, methods and paths; what is asked beside inferences."""

from .ask import Http
from .json_bodies import INFER, inference, json_request, rows


def names():
    good = json_request(rows(0))
    for name, shown in {
        "other": "other", "M": "M", "m%20": "m%20", "%6d": "%6d", "..": "..", "%2e%2e": "%2e%2e", "..%2fm": "..%2fm", "m%00": "m%00",
        "%": "%", "m%zz": "m%zz", "%ff": "%ff", "a" * 4096: "of 4 kB", "\u00e9": "\u00e9", "": "that is empty",
        "stats": "stats", "m;x": "m;x",
    }.items():  # fmt: skip
        yield Http(f"POST to a model {shown}", inference(name), good)
        if name in ("..", "%2e%2e", "m%00", "%ff"):
            yield Http(f"GET of a model {shown}", f"/v2/models/{name}")
    for version in ("1", "2", "0", "-1", "007", "01", "x", "1.0", "+1", "9223372036854775807", "9223372036854775808",
                    "1" * 30, "%31", "", "1%00"):
        yield Http(f"version '{version if len(version) < 25 else '1...1'}'", f"/v2/models/m/versions/{version}/infer", good)
    for version in ("2", "x", "-1", "007"):
        yield Http(f"GET of version '{version}'", f"/v2/models/m/versions/{version}")
        yield Http(f"readiness of version '{version}'", f"/v2/models/m/versions/{version}/ready")


def methods():
    good = json_request(rows(0))
    for path in ("/v2/models/m", "/v2/health/live", "/v2/models/m/config", "/v2", "/v2/models/m/stats", "/v2/models/m/ready",
                 "/nothing", "/"):
        yield Http(f"POST {path}", path, good)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE", "post", "GET"):
        yield Http(f"{method} of infer", INFER, good, method=method)
    yield Http("HEAD of readiness", "/v2/health/ready", method="HEAD")
    yield Http("POST without a length", INFER, method="POST")
    yield Http("a length that is no number", INFER, b"{}", {"Content-Length": "x"})
    yield Http("a length of -1", INFER, b"{}", {"Content-Length": "-1"})
    yield Http("HTTP/1.1 without a host", INFER, good, {"Host": None})
    yield Http("chunks", INFER, b"2\r\n{}\r\n0\r\n\r\n", {"Content-Length": None, "Transfer-Encoding": "chunked"})
    yield Http("chunks whose size is no number", INFER, b"zz\r\n{}\r\n0\r\n\r\n", {"Content-Length": None, "Transfer-Encoding": "chunked"})
    yield Http("Content-Type text/plain", INFER, good, {"Content-Type": "text/plain"})
    yield Http("a header of 20 kB", INFER, good, {"X-Long": "a" * 20000})
    yield Http("a query", INFER + "?a=b", good)
    yield Http("two slashes", "/v2//models/m/infer", good)
    yield Http("a slash at the end", INFER + "/", good)
    yield Http("/V2", "/V2")
    yield Http("/v1", "/v1/models/m:predict", {"instances": [[1, 2, 3, 4, 5, 6]]})
    yield Http("generate", "/v2/models/m/generate", {"x": 1})
    yield Http("generate_stream", "/v2/models/m/generate_stream", {"x": 1})


def told():
    yield Http("GET /v2", "/v2", compare="keys")
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/m/ready", "/v2/models/m/versions/1/ready"):
        yield Http(f"GET {path}", path, compare="status")
    for path in ("/v2/models/m", "/v2/models/types", "/v2/models/strings", "/v2/models/plain", "/v2/models/m/versions/1"):
        yield Http(f"GET {path}", path)
    for path in ("/v2/models/m/config", "/v2/models/levels/config"):
        yield Http(f"GET {path}", path, compare="keys")
    for path in ("", "/config", "/stats", "/ready"):
        yield Http(f"GET /v2/models/other{path}", f"/v2/models/other{path}")
    yield Http("GET /v2/models/stats", "/v2/models/stats", compare="keys")
    yield Http("GET /", "/")
    yield Http("GET of infer", INFER)
    yield Http("GET /metrics at the port of HTTP", "/metrics")
    yield Http("GET / at the port of metrics", "/", metrics=True)
    yield Http("POST /metrics", "/metrics", b"", metrics=True)


def asks():
    yield from names()
    yield from methods()
    yield from told()
