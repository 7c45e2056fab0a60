"""Why an answer of ours is right where Triton's is another one. A difference that none of these rules knows makes the tool fail."""

import json
import re

from .ask import CLOSED

ENDS, CLOSES, MALFORMED = "Triton ends", "Triton closes the connection", "A malformed request is 400"
IGNORED, TAKEN = "What Triton ignores is refused", "What Triton refuses is answered"
UNKNOWN, NUMBERS, DECODED = "What is not there is 404", "Versions", "Paths are decoded"
METHODS, ABSENT, SHARED = "Methods and paths have words", "What this server does not have", "Shared memory is off"
MORE, OTHER, MEMBERS = "The message says more", "Another fault is told first", "Members of answers"

TEXTS = {
    ENDS: "The process of Triton ends, with all other requests in it. Ours refuses the request.",
    CLOSES: "Triton closes the connection without an answer. Ours says what is wrong, then closes it.",
    MALFORMED: """\
The client has to change the request, so the status is one of 400 to 499 (gRPC: INVALID_ARGUMENT). Triton's 500 and
INTERNAL count as failures of the server in monitoring, and clients send such requests again. Triton's words are kept
where it has some.""",
    IGNORED: """\
The client asked for something that would not happen, or sent what is damaged: it learns that now. This holds for
priorities without levels, for outputs that are named twice, numbers beyond the range of their type (infinity, else),
NaN, which JSON does not have, bodies that cannot be decompressed to their end, settings and parameters of a wrong type,
tensors that no input has, names with a NUL, behind which Triton does not read, and for JSON deeper than 100 levels,
which exhausts the stack of parsers.""",
    TAKEN: """\
The request has one meaning, so it is answered. A raw body of several rows has the rows that its size says, and needs no
optional input. HEAD is GET without a body, as HTTP has it.""",
    UNKNOWN: """\
A model, version or path that is not there is 404 (gRPC: NOT_FOUND), whatever is asked of it; Triton has 400 for
readiness, statistics and settings.""",
    NUMBERS: """\
A version is an integer above 0, and all else is 400, in a path, too, where Triton has 404 for what is no number. Ours
names it as the client wrote it.""",
    DECODED: """\
`%6d` in a path is `m`, as RFC 3986 has it, and a `%` without two digits behind it is 400. A slash at the end changes
nothing.""",
    METHODS: """\
The error has JSON with words: the method to send, or that there is no such path. Triton has the name of the status
alone.""",
    ABSENT: """\
501 (gRPC: UNIMPLEMENTED) or 400, and what to do instead: sequences, `generate`, CUDA shared memory and repositories by
name are Triton's; files of a model go into the repository. Triton takes sequence parameters for models without
sequences, and ignores them.""",
    SHARED: """\
A client could have any segment read or written that the server may open, so `--allow-client-shm` has to be set. Triton
looks for the segment.""",
    MORE: """\
The status is the same, and the message has Triton's words; ours also has the tensor, the value or the reason.""",
    OTHER: """\
Both refuse with the same status. Of several faults ours tells another one first, or says it in words of its own where
Triton's name something that the client has not sent: `raw_input`, or what it has left of a shape.""",
    MEMBERS: """\
The status is the same. Metadata tell the platform `tenfold_onnx`. Traces go to a collector of OpenTelemetry, so there
are no settings of files. There are no answers of decoupled models to count, and memory is a metric
(`tenfold_model_memory_bytes`). Classification of more classes than an integer holds is all classes. Metrics are at the
port of HTTP, too. An answer in a stream for bytes that are no message says so.""",
}

# Requests whose difference is not told from the answers alone.
OTHER_NAMES = (
    r"inputs: \[(1|\[\]|null)\]|an input without anything|shape (\[6\]|\[6,1\]|\[\]|\[2\^63,6\]|\[2\^32,2\^32\])|0 rows|an input more|"
    r"data and binary_data_size|a depth of 200|UINT8 256, and no FP16|3 (binary )?strings for 2|1 binary string for 2|"
    r"inputs of 1 and 2 rows|"
    r"a(n empty)? body.*|a string (that is cut off|of 2\^32 - 1)|binary, sizes shifted by one|binary, header length '(x|0x10||\s)'|"
    r"a raw body.*|(gzip|deflate)(, and nothing| in name only)|an input in shared memory, and data|"
    r"ModelInfer: (no datatype|an unknown datatype|BYTES for FP32|shape \[.*|FP16 in contents|3 strings for 2|a string that is cut off|"
    r"(priority|timeout|classification) .*|an (in|out)put in shared memory|shared_memory_offset -1)|loading \.\.|loading, files|"
    r"loading, config that is a number|loading a file that is no model|trace_count 2\^64|an empty datatype|no data"
)  # fmt: skip
MEMBER_NAMES = (
    r"classification 4294967296|GET /v2/models/(m|types|strings|plain|m/versions/1|stats)|ModelMetadata of 'm'|"
    r"GET /v2/(models/m/)?trace/setting|"
    r"a trace setting that is not there|TraceSetting|GET /metrics at the port of HTTP|GET / at the port of metrics|"
    r"ModelStreamInfer: bytes that are no message"
)  # fmt: skip
IGNORED_NAMES = (
    r".*NUL|an element that is NaN|an element beyond float|(ModelInfer: )?the output twice|a depth of 200 in what nobody knows|binary, NaN|"
    r"(gzip|deflate) (that is cut off|with a byte behind it)|gzip, said to be deflate|(ModelInfer: )?priority .*|"
    r"parameters of an (input: 1|output: \[\])|ModelInfer: (raw contents more than inputs|timeout -1|version '1.0')|the index, a list|"
    r"unloading, (no JSON|unload_dependents: 1)|trace_(level NONSENSE|rate -1)"
)
TAKEN_NAMES = r"a raw body (of 2 rows|without batches)|HEAD of readiness"


def words_of(answer):
    return answer.value if isinstance(answer.value, str) else json.dumps(answer.value, default=repr)


def same_words(ours, triton):
    """Whether ours has the words of Triton's, but for what stands between quotes or behind them."""

    def plain(text):
        text = re.sub(r"^\[request id: [^]]*\] |\(details: stol\), ", "", text)
        return [w for w in re.findall(r"[a-z]{3,}", text.lower()) if w not in ("the", "for", "version", "should", "integral", "value")]

    theirs = plain(triton.words)
    return bool(theirs) and set(theirs) <= set(plain(ours.words))


def find(ask, ours, triton):
    """The title of the reason, or nothing."""
    name, said = ask.name, words_of(ours)
    is_name = lambda pattern: re.fullmatch(pattern, name) is not None  # noqa: E731
    client = ours.status in ("INVALID_ARGUMENT", "NOT_FOUND") or isinstance(ours.status, int) and 400 <= ours.status < 500
    rules = (
        (ENDS, str(triton.value).startswith("the server ended") and client),
        (CLOSES, triton.value == CLOSED and client),
        (MEMBERS, is_name(MEMBER_NAMES)),
        (SHARED, is_name(r"a region without a size") or "shared memory, which is off" in said or "shared memory is off" in said),
        (ABSENT, re.search(r"serve the model by Triton|'repository_name' spec|takes no files by requests", said) is not None),
        (TAKEN, ours.good and is_name(TAKEN_NAMES)),
        (IGNORED, client and triton.good and is_name(IGNORED_NAMES)),
        (NUMBERS, "ersion" in name and re.search(r"specified version string|version 007 is not found", said) is not None),
        (UNKNOWN, ours.status in (404, "NOT_FOUND") and triton.status in (400, "INVALID_ARGUMENT")),
        (MALFORMED, client and ours.status != 404 and triton.status in (500, 501, 503, "INTERNAL")),
        (DECODED, "%" in name or is_name(r"a slash at the end") and ours.good),
        (METHODS, not ours.good and re.fullmatch(r"(Method Not Allowed|Not Found|)", triton.words.strip()) is not None),
        (MORE, ours.status == triton.status and not ours.good and same_words(ours, triton)),
        (OTHER, client and triton.status == ours.status and is_name(OTHER_NAMES)),
        (MALFORMED, ours.status == 411),
        (UNKNOWN, is_name(r"a model that is not loaded|POST to a model of 4 kB|loading a name of 4 kB") and not ours.good),
    )
    return next((title for title, holds in rules if holds), None)
