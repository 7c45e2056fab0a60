"""Clients that ask without a pause over HTTP or gRPC, and remember each answer: when it was asked for, and what was wrong."""

import dataclasses
import http.client
import struct
import threading
import time

from servers import REQUEST


@dataclasses.dataclass
class Answer:
    begun: float
    ended: float
    fault: str  # empty: it is right


def field(number, data):
    """Of a protobuf message: bytes with their length, which is below 128."""
    return bytes([number << 3 | 2, len(data)]) + data


# ModelInferRequest: model_name, inputs { name, datatype, shape }, raw_input_contents.
TENSOR = field(1, b"x") + field(2, b"FP32") + field(3, b"\x01\x06")
GRPC_REQUEST = field(1, b"m") + field(5, TENSOR) + field(7, struct.pack("<6f", 1, 2, 3, 4, 5, 6))


class HttpClient:
    def __init__(self, port):
        self.port, self.connection = port, None

    def ask(self):
        if not self.connection:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            self.connection.request("POST", "/v2/models/m/infer", REQUEST)
            response = self.connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection = None
            return f"{type(error).__name__}: {error}", b""
        return ("" if response.status == 200 else f"{response.status} {body[:80]}"), body.partition(b'"outputs"')[2]


class GrpcClient:
    def __init__(self, port):
        import grpc

        self.error = grpc.RpcError
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])
        self.call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")

    def ask(self):
        try:
            # The outputs' bytes are the last field.
            return "", self.call(GRPC_REQUEST, timeout=60, wait_for_ready=True)[-16:]
        except self.error as error:
            return f"{error.code()} {error.details()[:80]}", b""


class Load:
    """Of so many clients, each on a connection of its own, until stop()."""

    def __init__(self, kind, port, clients=6):
        fault, self.right = kind(port).ask()
        self.answers, self.stopping = [], False
        assert self.right, f"no answer before the load: {fault}"
        self.threads = [threading.Thread(target=self._work, args=(kind(port),)) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _work(self, client):
        while not self.stopping:
            begun = time.monotonic()
            fault, answer = client.ask()
            if not fault and answer != self.right:
                fault = f"another answer: {answer}"
            self.answers.append(Answer(begun, time.monotonic(), fault))

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()

    def between(self, start, end):
        """Answers that came then."""
        return [one for one in self.answers if start <= one.ended < end]
