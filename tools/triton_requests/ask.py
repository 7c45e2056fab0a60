"""A request, and what a server answers."""

import dataclasses
import http.client
import json
import socket

import grpc
from tritonclient.grpc import service_pb2

SERVICE = "/inference.GRPCInferenceService/"
CLOSED = "closed without an answer"


@dataclasses.dataclass
class Answer:
    status: object  # HTTP's number, or the name of gRPC's code
    value: object  # JSON, or text where it is none; of gRPC the message as a dictionary, or the details
    tensors: bytes = b""  # behind the JSON

    @property
    def good(self):
        return self.status in (200, "OK")

    @property
    def words(self):
        if isinstance(self.value, dict) and "error" in self.value:
            return str(self.value["error"])
        return self.value if isinstance(self.value, str) else "" if self.good else json.dumps(self.value)


@dataclasses.dataclass
class Http:
    name: str
    path: str
    body: object = None  # bytes, text, or what becomes JSON; None: there is none
    headers: dict = dataclasses.field(default_factory=dict)
    method: str = ""  # POST where there is a body
    compare: str = "all"  # or "keys", "status": what of a good answer has to be the same
    metrics: bool = False  # at the port of metrics

    def data(self):
        body = self.body if isinstance(self.body, bytes) else (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()
        method = self.method or ("GET" if self.body is None else "POST")
        headers = {"Host": "localhost", **({} if self.body is None else {"Content-Length": len(body)}), **self.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value is not None)
        head = f"{method} {self.path} HTTP/1.1\r\n{lines}\r\n".encode("utf-8", "surrogateescape")
        return head + (b"" if self.body is None else body)

    def send(self, server):
        try:
            with socket.create_connection(("127.0.0.1", server.metrics if self.metrics else server.http), timeout=20) as s:
                s.sendall(self.data())
                response = http.client.HTTPResponse(s, method=self.method or None)
                response.begin()
                raw = response.read()
        except (ConnectionError, http.client.HTTPException):
            return Answer(0, CLOSED)
        except TimeoutError:
            return Answer(0, "no answer in 20 s")
        length = response.headers.get("Inference-Header-Content-Length")
        text = raw[: int(length)] if length else raw
        try:
            return Answer(response.status, json.loads(text), raw[len(text) :])
        except ValueError:
            return Answer(response.status, raw.decode(errors="replace"))


@dataclasses.dataclass
class Grpc:
    name: str
    method: str  # of the service; with a '/' it is the whole path
    message: object = b""  # of protobuf, or bytes; a list: those of a stream
    answer: str = ""  # the type of the answer
    metadata: tuple = ()
    timeout: float = 20
    compression: object = None
    compare: str = "all"

    def send(self, server):
        path = self.method if "/" in self.method else SERVICE + self.method
        options = [("grpc.max_send_message_length", -1)]
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc}", options=options) as channel:
            streams = isinstance(self.message, list)
            call = (channel.stream_stream if streams else channel.unary_unary)(path)
            messages = [m if isinstance(m, bytes) else m.SerializeToString() for m in (self.message if streams else [self.message])]
            more = {"timeout": self.timeout, "metadata": self.metadata, "compression": self.compression}
            try:
                raw = list(call(iter(messages), **more)) if streams else [call(messages[0], **more)]
            except grpc.RpcError as error:
                return Answer(error.code().name, error.details() or "")
        kind = getattr(service_pb2, self.answer or ("ModelStreamInferResponse" if streams else self.method + "Response"))
        made = [as_dict(kind.FromString(one)) for one in raw]
        return Answer("OK", made if streams else made[0])


def as_dict(message):
    """As protobuf's JSON would have it, but with bytes as they are."""
    out = {}
    for field, value in message.ListFields():
        if field.message_type and field.message_type.GetOptions().map_entry:
            entry = field.message_type.fields_by_name["value"]
            out[field.name] = {str(k): as_dict(value[k]) if entry.message_type else value[k] for k in sorted(value)}
        elif field.label == field.LABEL_REPEATED:
            out[field.name] = [as_dict(one) if field.message_type else one for one in value]
        else:
            out[field.name] = as_dict(value) if field.message_type else value
    return out
