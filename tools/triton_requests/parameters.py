"""Parameters of requests, inputs and outputs, and shared memory, which both servers were started without."""

from .ask import Http
from .json_bodies import INFER, inference, json_request, rows, with_input, with_output

REGION = {"shared_memory_region": "r", "shared_memory_byte_size": 16}


def with_parameters(**parameters):
    return {**json_request(rows(0)), "parameters": parameters}


def asks():
    for name, parameters in {
        "a parameter of one's own": {"mine": "x"},
        "a parameter of one's own, true": {"mine": True},
        "a parameter of one's own, 1.5": {"mine": 1.5},
        "a parameter that is null": {"mine": None},
        "a parameter that is a list": {"mine": [1]},
        "a parameter that is an object": {"mine": {}},
        "priority 0": {"priority": 0},
        "priority 1": {"priority": 1},
        "priority -1": {"priority": -1},
        "priority 2^64": {"priority": 2**64},
        'priority "high"': {"priority": "high"},
        "timeout 10^9": {"timeout": 10**9},
        "timeout 0": {"timeout": 0},
        "timeout -1": {"timeout": -1},
        "timeout 1.5": {"timeout": 1.5},
        'timeout "1"': {"timeout": "1"},
        "timeout null": {"timeout": None},
        "timeout 2^63": {"timeout": 2**63},
        "sequence_id 0": {"sequence_id": 0},
        "sequence_id 5": {"sequence_id": 5},
        'sequence_id "a"': {"sequence_id": "a"},
        "sequence_start alone": {"sequence_start": True},
        'binary_data_output "yes"': {"binary_data_output": "yes"},
        "binary_data_output 1": {"binary_data_output": 1},
    }.items():
        yield Http(name, INFER, with_parameters(**parameters))
    for value in ([], 1, "x", None):
        yield Http(f"parameters: {value!r}", INFER, {**json_request(rows(0)), "parameters": value})
    for value in (1, 2, 3, 2**32 + 1):
        yield Http(f"priority {value} of 2", inference("levels"), with_parameters(priority=value))
    for value in (0, -1, "2", 1.5, True, 2**32):
        yield Http(f"classification {value!r}", INFER, with_output(classification=value))
    yield Http('binary_data "yes"', INFER, with_output(binary_data="yes"))
    yield Http("binary_data and classification", INFER, with_output(binary_data=True, classification=2))
    yield Http("parameters of an output: []", INFER, {**json_request(rows(0)), "outputs": [{"name": "y", "parameters": []}]})
    yield Http("parameters of an input: 1", INFER, with_input(parameters=1))
    yield Http("an output in shared memory", INFER, with_output(**REGION))
    yield Http("an input in shared memory", INFER, with_input(data=None, parameters=REGION))
    yield Http("an input in shared memory, and data", INFER, with_input(parameters=REGION))
    yield Http("a region that is a number", INFER, with_output(**{**REGION, "shared_memory_region": 7}))
    yield Http("a region without a size", INFER, with_output(shared_memory_region="r"))
    yield Http("a size of -1", INFER, with_output(**{**REGION, "shared_memory_byte_size": -1}))
    yield Http("an offset of -1", INFER, with_output(**REGION, shared_memory_offset=-1))
    shared = "/v2/systemsharedmemory"
    yield Http("regions", f"{shared}/status")
    yield Http("registering a region", f"{shared}/region/r/register", {"key": "/none", "byte_size": 16, "offset": 0})
    yield Http("registering a region without a key", f"{shared}/region/r/register", {"byte_size": 16})
    yield Http("registering a region of -1 bytes", f"{shared}/region/r/register", {"key": "/none", "byte_size": -1})
    yield Http("registering nonsense", f"{shared}/region/r/register", "nonsense")
    yield Http("a region that nobody registered", f"{shared}/region/none/status")
    yield Http("unregistering what is not there", f"{shared}/region/none/unregister", b"")
    yield Http("unregistering all", f"{shared}/unregister", b"")
    yield Http("CUDA regions", "/v2/cudasharedmemory/status")
    cuda = {"raw_handle": {"b64": "AAAA"}, "device_id": 0, "byte_size": 16}
    yield Http("registering a CUDA region", "/v2/cudasharedmemory/region/r/register", cuda)
