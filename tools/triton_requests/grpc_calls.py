"""Calls of grpcio: messages that are right, and wrong ones."""

import grpc
from tritonclient.grpc import service_pb2 as pb

from .ask import Grpc
from .json_bodies import rows
from .models import TYPES, values


def request(x=None, model="m", raw=True, contents=False, **more):
    """ModelInferRequest for the model `m`, and changes: fields of the message, of its tensor as `tensor`."""
    x = rows(0) if x is None else x
    tensor = {"name": "x", "datatype": "FP32", "shape": list(x.shape), **more.pop("tensor", {})}
    message = pb.ModelInferRequest(model_name=model, **more)
    made = message.inputs.add(**tensor)
    if contents:
        made.contents.fp32_contents.extend(x.ravel().tolist())
    if raw:
        message.raw_input_contents.append(raw if isinstance(raw, bytes) else x.tobytes())
    return message


def with_parameter(message, name, of="request", **value):
    where = {"request": lambda: message, "input": lambda: message.inputs[0], "output": lambda: message.outputs.add(name="y")}[of]()
    for key, one in value.items():
        setattr(where.parameters[name], key, one)
    return message


def of_types():
    message = pb.ModelInferRequest(model_name="types")
    for name, x in values().items():
        message.inputs.add(name=name, datatype=TYPES[name][0], shape=[1, 2])
        message.raw_input_contents.append(x.tobytes())
    return message


def strings(typed, data=(b"a", b"\xff"), shape=(1, 2)):
    message = pb.ModelInferRequest(model_name="strings")
    for name in "ab":
        tensor = message.inputs.add(name=name, datatype="BYTES", shape=shape)
        if typed:
            tensor.contents.bytes_contents.extend(data)
        else:
            message.raw_input_contents.append(b"".join(len(one).to_bytes(4, "little") + one for one in data))
    return message


def call(name, message, **more):
    return Grpc(f"ModelInfer: {name}", "ModelInfer", message, **more)


def right():
    for seed in range(10):
        yield call(f"rows {seed}", request(rows(seed, 1 + seed % 4), id=str(seed)))
    yield call("typed contents", request(raw=False, contents=True))
    yield call("5 types", of_types())
    yield call("strings, raw", strings(False))
    yield call("strings, typed", strings(True))
    yield call("an output by name", request(outputs=[{"name": "y"}]))
    yield call("classification 2", with_parameter(request(), "classification", "output", int64_param=2))
    yield call("version 1", request(model_version="1"))
    yield call("gzip", request(), compression=grpc.Compression.Gzip)
    yield call("deflate", request(), compression=grpc.Compression.Deflate)
    yield call("a parameter of one's own", with_parameter(request(), "mine", string_param="x"))


def wrong():
    x = rows(0)
    two, raw_only = request(contents=True), request(raw=False)
    more = request()
    more.raw_input_contents.append(b"1234")
    twice = request()
    twice.inputs.add().CopyFrom(twice.inputs[0])
    twice.raw_input_contents.append(x.tobytes())
    other_contents = request(raw=False)
    other_contents.inputs[0].contents.int64_contents.extend([1] * 6)
    both_contents = request(raw=False, contents=True)
    both_contents.inputs[0].contents.int_contents.append(1)
    few = request(raw=False)
    few.inputs[0].contents.fp32_contents.extend([1] * 5)
    for name, message in {
        "nothing": b"",
        "bytes that are no message": b"\xff\xff",
        "a message that is cut off": request().SerializeToString()[:-3],
        "a field of another type": b"\x0d\0\0\0\0" + request().SerializeToString(),
        "a field that is not there": request().SerializeToString() + b"\xfa\x3e\x01x",
        "a model's name that is no UTF-8": b"\x0a\x01\xff",
        "no model": request(model=""),
        "another model": request(model="other"),
        "a model ..": request(model=".."),
        "a model with NUL": request(model="m\0"),
        "a model of 4 kB": request(model="a" * 4096),
        **{f"version '{v[:20]}'": request(model_version=v) for v in ("2", "x", "-1", "007", "1.0", str(2**63), "1" * 30)},
        "no inputs": pb.ModelInferRequest(model_name="m"),
        "another input": request(tensor={"name": "z"}),
        "the input twice": twice,
        "no datatype": request(tensor={"datatype": ""}),
        "an unknown datatype": request(tensor={"datatype": "FP31"}),
        "FP64 for FP32": request(tensor={"datatype": "FP64"}),
        "BYTES for FP32": request(tensor={"datatype": "BYTES"}),
        "no shape": request(tensor={"shape": []}),
        "shape [-1,6]": request(tensor={"shape": [-1, 6]}),
        "shape [0,6]": request(tensor={"shape": [0, 6]}),
        "shape [2^62,6]": request(tensor={"shape": [2**62, 6]}),
        "shape [1,7]": request(tensor={"shape": [1, 7]}),
        "5 rows for 4": request(rows(0, 5)),
        "raw and typed contents": two,
        "neither": raw_only,
        "raw contents more than inputs": more,
        "raw contents of 20 bytes": request(raw=x.tobytes()[:20]),
        "raw contents of 25 bytes": request(raw=x.tobytes() + b"1"),
        "empty raw contents": request(raw=False, raw_input_contents=[b""]),
        "contents of another type": other_contents,
        "contents of two types": both_contents,
        "5 elements for 6": few,
        "FP16 in contents": request(raw=False, contents=True, tensor={"datatype": "FP16"}),
        "another output": request(outputs=[{"name": "z"}]),
        "the output twice": request(outputs=[{"name": "y"}, {"name": "y"}]),
        "a string that is cut off": strings(False).SerializeToString().replace(b"\x01\0\0\0\xff", b"\x09\0\0\0\xff"),
        "3 strings for 2": strings(True, (b"a", b"b", b"c")),
        "priority 1": with_parameter(request(), "priority", uint64_param=1),
        'priority "1"': with_parameter(request(), "priority", string_param="1"),
        "priority -1": with_parameter(request(), "priority", int64_param=-1),
        "priority 3 of 2": with_parameter(request(model="levels"), "priority", uint64_param=3),
        "timeout -1": with_parameter(request(), "timeout", int64_param=-1),
        'timeout "1"': with_parameter(request(), "timeout", string_param="1"),
        "sequence_id 5": with_parameter(request(), "sequence_id", int64_param=5),
        "sequence_start 1": with_parameter(request(), "sequence_start", int64_param=1),
        "classification -1": with_parameter(request(), "classification", "output", int64_param=-1),
        'classification "2"': with_parameter(request(), "classification", "output", string_param="2"),
        "an output in shared memory": with_parameter(request(), "shared_memory_region", "output", string_param="r"),
        "an input in shared memory": with_parameter(request(raw=False), "shared_memory_region", "input", string_param="r"),
        "shared_memory_offset -1": with_parameter(request(), "shared_memory_offset", "output", int64_param=-1),
    }.items():
        yield call(name, message)
    yield call("a deadline that has passed", request(), timeout=0)


def streams():
    def stream(name, *messages, **more):
        return Grpc(f"ModelStreamInfer: {name}", "ModelStreamInfer", list(messages), **more)

    yield stream("nothing")
    yield stream("3 rows", *(request(rows(i), id=str(i)) for i in range(3)))
    yield stream("one that is wrong", request(id="a"), request(model="other", id="b"), request(id="c"))
    yield stream("bytes that are no message", b"\xff\xff")
    yield stream("one with a sequence", with_parameter(request(), "sequence_id", int64_param=5))


def others():
    yield Grpc("ServerLive", "ServerLive")
    yield Grpc("ServerReady", "ServerReady")
    yield Grpc("ServerMetadata", "ServerMetadata", compare="keys")
    for name in ("m", "other", ""):
        yield Grpc(f"ModelReady of '{name}'", "ModelReady", pb.ModelReadyRequest(name=name))
        yield Grpc(f"ModelMetadata of '{name}'", "ModelMetadata", pb.ModelMetadataRequest(name=name))
        yield Grpc(f"ModelConfig of '{name}'", "ModelConfig", pb.ModelConfigRequest(name=name), compare="keys")
    yield Grpc("ModelReady, version x", "ModelReady", pb.ModelReadyRequest(name="m", version="x"))
    yield Grpc("ModelMetadata, version 2", "ModelMetadata", pb.ModelMetadataRequest(name="m", version="2"))
    yield Grpc("ModelStatistics", "ModelStatistics", pb.ModelStatisticsRequest(name="counted"), compare="counts")
    yield Grpc("ModelStatistics of 'other'", "ModelStatistics", pb.ModelStatisticsRequest(name="other"))
    yield Grpc("RepositoryIndex", "RepositoryIndex", compare="keys")
    yield Grpc("RepositoryIndex of a repository", "RepositoryIndex", pb.RepositoryIndexRequest(repository_name="mine"))
    load = pb.RepositoryModelLoadRequest
    yield Grpc("loading what is not there", "RepositoryModelLoad", load(model_name="other"))
    yield Grpc("loading nothing", "RepositoryModelLoad", load())
    wrong = load(model_name="later")
    wrong.parameters["config"].string_param = "nonsense"
    yield Grpc("loading, config that is no JSON", "RepositoryModelLoad", wrong)
    number = load(model_name="later")
    number.parameters["config"].int64_param = 7
    yield Grpc("loading, config that is a number", "RepositoryModelLoad", number)
    yield Grpc("unloading what is not there", "RepositoryModelUnload", pb.RepositoryModelUnloadRequest(model_name="other"))
    yield Grpc("SystemSharedMemoryStatus", "SystemSharedMemoryStatus")
    region = pb.SystemSharedMemoryRegisterRequest(name="r", key="/none", byte_size=16)
    yield Grpc("SystemSharedMemoryRegister", "SystemSharedMemoryRegister", region)
    yield Grpc("SystemSharedMemoryUnregister", "SystemSharedMemoryUnregister", pb.SystemSharedMemoryUnregisterRequest(name="none"))
    yield Grpc("CudaSharedMemoryStatus", "CudaSharedMemoryStatus")
    cuda = pb.CudaSharedMemoryRegisterRequest(name="r", raw_handle=b"x", byte_size=16)
    yield Grpc("CudaSharedMemoryRegister", "CudaSharedMemoryRegister", cuda)
    yield Grpc("TraceSetting", "TraceSetting", compare="keys")
    yield Grpc("TraceSetting of 'other'", "TraceSetting", pb.TraceSettingRequest(model_name="other"))
    yield Grpc("LogSettings", "LogSettings", compare="keys")
    yield Grpc("a call that is not there", "/inference.GRPCInferenceService/None", answer="ServerLiveResponse")
    yield Grpc("a service that is not there", "/none.None/ServerLive", answer="ServerLiveResponse")


def asks():
    yield from right()
    yield from wrong()
    yield from streams()
    yield from others()
