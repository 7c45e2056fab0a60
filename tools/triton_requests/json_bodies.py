"""Inferences as JSON: right ones, and what is wrong with inputs, outputs and elements."""

import numpy as np

from .ask import Http
from .models import TYPES, serve_case, values

rows, json_request = serve_case.rows, serve_case.json_request
INFER = serve_case.INFER


def with_input(**changes):
    """A right request, but for members of its input; None takes one away."""
    request = json_request(rows(0))
    for key, value in changes.items():
        if value is None:
            del request["inputs"][0][key]
        else:
            request["inputs"][0][key] = value
    return request


def with_output(**parameters):
    return {**json_request(rows(0)), "outputs": [{"name": "y", "parameters": parameters}]}


def of_types(**changes):
    """A request to the model `types`; `h` is left out, for JSON has no FP16: that is wrong, and so are the changes."""
    inputs = {name: {"name": name, "datatype": TYPES[name][0], "shape": [1, 2], "data": x.tolist()} for name, x in values().items()}
    for name, data in changes.items():
        inputs[name]["data"] = data
    return {"inputs": list(inputs.values())}


def strings(a, b, shape=(1, 2), **more):
    return {"inputs": [{"name": n, "datatype": "BYTES", "shape": list(shape), "data": x} for n, x in (("a", a), ("b", b))], **more}


def inference(model):
    return f"/v2/models/{model}/infer"


def right():
    for seed in range(60):
        yield Http(f"rows {seed}", INFER, json_request(rows(seed, 1 + seed % 4), id=str(seed)))
    nested, x = rows(0, 2), {"name": "x", "datatype": "FP32", "shape": [3], "data": [1, 2.5, -3]}
    yield Http("data that is nested", INFER, json_request(nested))
    yield Http("data that is flat", INFER, with_input(shape=[1, 6], data=rows(0).ravel().tolist()))
    yield Http("data that is nested in another way", INFER, with_input(data=[[1, 2], [3, 4], [5, 6]]))
    yield Http("integers for floats", INFER, with_input(data=[1, 2, 3, 4, 5, 6]))
    yield Http("members that nobody knows", INFER, {**json_request(rows(0)), "more": {"a": [1]}})
    yield Http("members of an input that nobody knows", INFER, with_input(more="a"))
    yield Http("an output by name", INFER, {**json_request(rows(0)), "outputs": [{"name": "y"}]})
    yield Http("outputs: []", INFER, {**json_request(rows(0)), "outputs": []})
    yield Http("an empty id", INFER, json_request(rows(0), id=""))
    yield Http("an id of 4 kB", INFER, json_request(rows(0), id="a" * 4096))
    yield Http("an id with quotes, breaks and other letters", INFER, json_request(rows(0), id='"\\\n\t\u00e9\u4e2d'))
    yield Http("spaces around JSON", INFER, f" \r\n\t{json_request(rows(0))} \n".replace("'", '"'))
    yield Http("a model without batches", inference("plain"), {"inputs": [x]})
    scale = {"name": "scale", "datatype": "FP32", "shape": [1], "data": [4]}
    yield Http("an optional input", inference("plain"), {"inputs": [x, scale]})
    yield Http("strings", inference("strings"), strings(["a", "\u00e9"], ["\u4e2d", ""]))
    yield Http("strings of 2 rows", inference("strings"), strings(["a", "b", "c", "d"], ["e", "f", "g", "h"], (2, 2)))
    yield Http("strings with escapes", inference("strings"), strings(['"', "\\"], ["\n", "\u0001"]))
    yield Http("version 1", "/v2/models/m/versions/1/infer", json_request(rows(0)))
    yield Http("classification 1", INFER, with_output(classification=1))
    yield Http("classification 2", INFER, with_output(classification=2))
    yield Http("classification 9 of 4", INFER, with_output(classification=9))


def bodies():
    good = json_request(rows(0))
    deep = "[" * 200 + "]" * 200
    return {
        "an empty body": "",
        "a body of spaces": "   ",
        "no JSON": "nonsense",
        "a NUL": b"\0",
        "bytes that are no UTF-8": b'{"inputs":"\xff\xfe"}',
        "JSON that is cut off": '{"inputs":[',
        "two documents": "{}{}",
        "a comma too many": '{"inputs":[],}',
        "single quotes": "{'inputs':[]}",
        "a comment": '{"inputs":[] /* none */}',
        "a list": "[]",
        "null": "null",
        "a number": "7",
        "a text": '"inputs"',
        "no inputs": {},
        "inputs: 1": {"inputs": 1},
        "inputs: null": {"inputs": None},
        "inputs: {}": {"inputs": {}},
        "inputs: []": {"inputs": []},
        "inputs: [1]": {"inputs": [1]},
        "inputs: [[]]": {"inputs": [[]]},
        "inputs: [null]": {"inputs": [None]},
        "an input without anything": {"inputs": [{}]},
        "no name": with_input(name=None),
        "a name that is a number": with_input(name=7),
        "an empty name": with_input(name=""),
        "another input": with_input(name="z"),
        "an input more": {"inputs": good["inputs"] + [{**good["inputs"][0], "name": "z"}]},
        "the input twice": {"inputs": good["inputs"] * 2},
        "a name with NUL": with_input(name="x\0"),
        "a name of 4 kB": with_input(name="x" * 4096),
        "no datatype": with_input(datatype=None),
        "a datatype that is a number": with_input(datatype=32),
        "an empty datatype": with_input(datatype=""),
        "an unknown datatype": with_input(datatype="FP31"),
        "a datatype in small letters": with_input(datatype="fp32"),
        "TYPE_FP32": with_input(datatype="TYPE_FP32"),
        "FP64 for FP32": with_input(datatype="FP64"),
        "INT64 for FP32": with_input(datatype="INT64", data=[1, 2, 3, 4, 5, 6]),
        "BYTES for FP32": with_input(datatype="BYTES", data=["1", "2", "3", "4", "5", "6"]),
        "FP16 as JSON": with_input(datatype="FP16"),
        "BF16 as JSON": with_input(datatype="BF16"),
        "no shape": with_input(shape=None),
        "a shape that is text": with_input(shape="1x6"),
        "a shape of texts": with_input(shape=["1", "6"]),
        "a shape of 1.5 rows": with_input(shape=[1.5, 6]),
        "a shape that is nested": with_input(shape=[[1, 6]]),
        "shape [1,7]": with_input(shape=[1, 7]),
        "shape [1,6,1]": with_input(shape=[1, 6, 1]),
        "shape [6]": with_input(shape=[6]),
        "shape [6,1]": with_input(shape=[6, 1]),
        "shape []": with_input(shape=[]),
        "shape [-1,6]": with_input(shape=[-1, 6]),
        "shape [2^62,6]": with_input(shape=[2**62, 6]),
        "shape [2^63,6]": with_input(shape=[2**63, 6]),
        "shape [2^64,6]": with_input(shape=[2**64, 6]),
        "shape [2^32,2^32]": with_input(shape=[2**32, 2**32]),
        "a shape of 1,000 extents": with_input(shape=[1] * 1000),
        "5 rows for 4": json_request(rows(0, 5)),
        "0 rows": json_request(np.zeros((0, 6), np.float32)),
        "5 elements for 6": with_input(data=[1] * 5),
        "7 elements for 6": with_input(data=[1] * 7),
        "no elements": with_input(data=[]),
        "no data": with_input(data=None),
        "data: null": '{"inputs":[{"name":"x","datatype":"FP32","shape":[1,6],"data":null}]}',
        "data: 1": with_input(data=1),
        "data: {}": with_input(data={}),
        "data: text": with_input(data="123456"),
        "an element that is text": with_input(data=[1, 2, 3, 4, 5, "6"]),
        "an element that is null": with_input(data=[1, 2, 3, 4, 5, None]),
        "an element that is true": with_input(data=[1, 2, 3, 4, 5, True]),
        "an element that is an object": with_input(data=[1, 2, 3, 4, 5, {}]),
        "an element that is NaN": '{"inputs":[{"name":"x","datatype":"FP32","shape":[1,6],"data":[1,2,3,4,5,NaN]}]}',
        "an element beyond float": with_input(data=[1, 2, 3, 4, 5, 1e39]),
        "an element beyond double": '{"inputs":[{"name":"x","datatype":"FP32","shape":[1,6],"data":[1,2,3,4,5,1e400]}]}',
        "data and binary_data_size": with_input(parameters={"binary_data_size": 24}),
        "another output": {**good, "outputs": [{"name": "z"}]},
        "the output twice": {**good, "outputs": [{"name": "y"}, {"name": "y"}]},
        "the input as output": {**good, "outputs": [{"name": "x"}]},
        'outputs: "y"': {**good, "outputs": "y"},
        'outputs: ["y"]': {**good, "outputs": ["y"]},
        "an output without a name": {**good, "outputs": [{}]},
        "an output whose name is a number": {**good, "outputs": [{"name": 1}]},
        "an id that is a number": {**good, "id": 7},
        "an id that is a list": {**good, "id": []},
        "members twice": '{"inputs":[],"inputs":' + str(good["inputs"]).replace("'", '"') + "}",
        "a depth of 200": '{"inputs":' + deep + "}",
        "a depth of 200 in what nobody knows": str(good).replace("'", '"')[:-1] + ',"more":' + deep + "}",
    }


def others():
    """What is wrong with requests to other models."""
    yield Http("FP16 as JSON, of 5 types", inference("types"), of_types())
    for name, data in {
        "INT64 2^63": {"i": [0, 2**63]},
        "INT64 1.5": {"i": [0, 1.5]},
        "UINT8 256": {"u": [0, 256]},
        "UINT8 -1": {"u": [0, -1]},
        "BOOL 2": {"b": [True, 2]},
        "BOOL by text": {"b": [True, "false"]},
    }.items():
        one = of_types(**data)
        one["inputs"] = [i for i in one["inputs"] if i["name"] != "h"]
        yield Http(f"{name}, and no FP16", inference("types"), one)
    yield Http("numbers for strings", inference("strings"), strings([1, 2], ["a", "b"]))
    yield Http("null for a string", inference("strings"), strings([None, "a"], ["a", "b"]))
    yield Http("3 strings for 2", inference("strings"), strings(["a", "b", "c"], ["a", "b"]))
    yield Http("one input of two", inference("strings"), {"inputs": strings(["a", "b"], ["a", "b"])["inputs"][:1]})
    two = strings(["a", "b"], ["a", "b"])
    two["inputs"][1].update(shape=[2, 2], data=["a", "b", "c", "d"])
    yield Http("inputs of 1 and 2 rows", inference("strings"), two)
    lone = '{"inputs":[{"name":"a","datatype":"BYTES","shape":[1,2],"data":["\\ud800","x"]},' \
           '{"name":"b","datatype":"BYTES","shape":[1,2],"data":["y","z"]}]}'  # fmt: skip
    yield Http("a lone surrogate", inference("strings"), lone)
    row = {**with_input()["inputs"][0], "shape": [1, 3], "data": [1] * 3}
    yield Http("shape [1,3] without batches", inference("plain"), {"inputs": [row]})
    classes = strings(["a", "b"], ["c", "d"], outputs=[{"name": "y", "parameters": {"classification": 1}}])
    yield Http("classification of strings", inference("strings"), classes)


def asks():
    yield from right()
    for name, body in bodies().items():
        yield Http(name, INFER, body)
    yield from others()
