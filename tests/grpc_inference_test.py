"""Models over gRPC, asked by tritonclient as it is. Argument: the program tenfold-server.

It needs tritonclient[grpc], onnx and NumPy (script/bootstrap clients), and is skipped without.
"""
import concurrent.futures
import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import report_skips

try:
    import grpc
    import numpy as np
    import onnx
    import tritonclient.grpc as triton
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
    from onnx import TensorProto as T
    from onnx import helper
    from tritonclient.grpc import service_pb2
    from tritonclient.utils import InferenceServerException
except ImportError as error:
    triton, ABSENT = None, f'Python has no clients of gRPC: {error}'
else:
    ABSENT = ''

PROGRAM = ''


def write_model(path):
    """y = x + n, k = -n, of types that gRPC's typed contents do not have for themselves."""
    graph = helper.make_graph(
        [helper.make_node('Cast', ['n'], ['f'], to=T.FLOAT), helper.make_node('Add', ['x', 'f'], ['y']),
         helper.make_node('Neg', ['n'], ['k'])],
        'toy', [helper.make_tensor_value_info('x', T.FLOAT, ['batch', 4]), helper.make_tensor_value_info('n', T.INT8, ['batch', 4])],
        [helper.make_tensor_value_info('y', T.FLOAT, ['batch', 4]), helper.make_tensor_value_info('k', T.INT8, ['batch', 4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


@contextlib.contextmanager
def server(*flags):
    with tempfile.TemporaryDirectory() as folder:
        write_model(folder + '/toy.onnx')
        ours = ['--device=cpu', '--tune=never', '--threads=1', '--http-port=0', '--metrics-port=0', '--plan-cache-dir=' + folder]
        process = subprocess.Popen([PROGRAM, folder + '/toy.onnx', *ours, *flags], stderr=subprocess.PIPE, text=True)
        try:
            for line in process.stderr:
                if found := re.search(r'ready on http://[^:]+:(\d+).*gRPC on 127\.0\.0\.1:(\d+)', line):
                    process.http, process.address = int(found[1]), f'127.0.0.1:{found[2]}'
                    break
            else:
                raise AssertionError('the server did not start')
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def inputs(x, n):
    tensors = [triton.InferInput('x', x.shape, 'FP32'), triton.InferInput('n', n.shape, 'INT8')]
    tensors[0].set_data_from_numpy(x)
    tensors[1].set_data_from_numpy(n)
    return tensors


def arrays(seed, rows=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 4)).astype(np.float32), rng.integers(-100, 100, (rows, 4), dtype=np.int8)


@unittest.skipIf(not triton, ABSENT)
class Inference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.process = cls.stack.enter_context(server())
        cls.client = triton.InferenceServerClient(cls.process.address)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.stack.close()

    def check(self, result, x, n):
        np.testing.assert_array_equal(result.as_numpy('y'), x + n)
        np.testing.assert_array_equal(result.as_numpy('k'), -n)

    def refused(self, code, text, call, *arguments, **options):
        with self.assertRaises(InferenceServerException) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.status(), 'StatusCode.' + code, raised.exception.message())
        self.assertIn(text, raised.exception.message())

    def test_infer(self):
        for rows in (1, 2, 4):
            x, n = arrays(rows, rows)
            result = self.client.infer('toy', inputs(x, n), request_id='one')
            self.check(result, x, n)
            response = result.get_response()
            self.assertEqual((response.id, response.model_name, response.model_version), ('one', 'toy', '1'))
            self.assertEqual([o.datatype for o in response.outputs], ['FP32', 'INT8'])
        result = self.client.infer('toy', inputs(x, n), outputs=[triton.InferRequestedOutput('k')])
        self.assertEqual([o.name for o in result.get_response().outputs], ['k'])

    def test_many_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            def one(seed):
                x, n = arrays(seed)
                self.check(self.client.infer('toy', inputs(x, n)), x, n)
            list(pool.map(one, range(400)))

    def test_async(self):
        done = queue.Queue()
        expected = {}
        for seed in range(50):
            x, n = arrays(seed)
            expected[str(seed)] = x, n
            self.client.async_infer('toy', inputs(x, n), lambda result, error: done.put((result, error)), request_id=str(seed))
        for _ in range(50):
            result, error = done.get(timeout=30)
            self.assertIsNone(error)
            self.check(result, *expected.pop(result.get_response().id))

    def test_typed_contents(self):
        x, n = arrays(7, 2)
        request = service_pb2.ModelInferRequest(model_name='toy')
        first = request.inputs.add(name='x', datatype='FP32', shape=[2, 4])
        first.contents.fp32_contents.extend(x.ravel().tolist())
        second = request.inputs.add(name='n', datatype='INT8', shape=[2, 4])
        second.contents.int_contents.extend(n.ravel().tolist())
        with grpc.insecure_channel(self.process.address) as channel:
            infer = channel.unary_unary('/inference.GRPCInferenceService/ModelInfer', service_pb2.ModelInferRequest.SerializeToString,
                                        service_pb2.ModelInferResponse.FromString)
            response = infer(request)
            np.testing.assert_array_equal(np.frombuffer(response.raw_output_contents[0], np.float32).reshape(2, 4), x + n)
            second.contents.int_contents[0] = 128
            self.invalid(infer, request, 'does not fit into INT8')
            second.contents.int_contents[0] = 1
            request.raw_input_contents.append(b'')
            self.invalid(infer, request, 'raw_input_contents')
            request.raw_input_contents.append(b'')
            self.invalid(infer, request, 'contents field must not be specified when using raw_input_contents')
            del request.raw_input_contents[:]
            first.contents.fp32_contents.append(1)
            self.invalid(infer, request, "'x'")
            del request.inputs[0]
            self.invalid(infer, request, '')
            raw = channel.unary_unary('/inference.GRPCInferenceService/ModelInfer')
            self.invalid(raw, b'\xff\xff', 'ModelInferRequest')

    def invalid(self, call, request, text):
        with self.assertRaises(grpc.RpcError) as raised:
            call(request)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn(text, raised.exception.details())

    def test_refusals(self):
        x, n = arrays(1)
        self.refused('NOT_FOUND', 'none', self.client.infer, 'none', inputs(x, n))
        self.refused('INVALID_ARGUMENT', '', self.client.infer, 'toy', inputs(x, n)[:1])
        self.refused('INVALID_ARGUMENT', '', self.client.infer, 'toy', inputs(*arrays(1, 100)))
        self.refused('INVALID_ARGUMENT', 'none', self.client.infer, 'toy', inputs(x, n), outputs=[triton.InferRequestedOutput('none')])
        self.refused('UNIMPLEMENTED', 'sequence', self.client.infer, 'toy', inputs(x, n), sequence_id=5, sequence_start=True)
        self.check(self.client.infer('toy', inputs(x, n)), x, n)

    def test_what_there_is(self):
        client = self.client
        self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready('toy'))
        self.assertFalse(client.is_model_ready('none'))
        self.assertEqual(client.get_server_metadata().name, 'tenfold')
        metadata = client.get_model_metadata('toy')
        self.assertEqual([(t.name, t.datatype, list(t.shape)) for t in metadata.inputs], [('x', 'FP32', [-1, 4]), ('n', 'INT8', [-1, 4])])
        self.assertEqual([(t.name, t.datatype) for t in metadata.outputs], [('y', 'FP32'), ('k', 'INT8')])
        self.assertEqual(list(metadata.versions), ['1'])
        config = client.get_model_config('toy').config
        self.assertEqual((config.name, config.backend, config.max_batch_size), ('toy', 'tenfold', 4))
        self.assertEqual([list(i.dims) for i in config.input], [[4], [4]])
        self.assertEqual(list(config.dynamic_batching.preferred_batch_size), [4])
        self.assertEqual([(m.name, m.version, m.state) for m in client.get_model_repository_index().models], [('toy', '1', 'READY')])
        self.refused('NOT_FOUND', 'none', client.get_model_metadata, 'none')

    def test_statistics(self):
        def read():
            (one,) = self.client.get_inference_statistics('toy').model_stats
            return one
        before = read()
        x, n = arrays(3, 2)
        for _ in range(5):
            self.client.infer('toy', inputs(x, n))
        with self.assertRaises(InferenceServerException):
            self.client.infer('toy', inputs(x, n)[:1])
        after = read()
        self.assertEqual(after.inference_count - before.inference_count, 10)
        self.assertEqual(after.inference_stats.success.count - before.inference_stats.success.count, 5)
        self.assertEqual(after.inference_stats.fail.count - before.inference_stats.fail.count, 1)
        self.assertGreater(after.inference_stats.compute_infer.ns, 0)
        self.assertIn(2, [b.batch_size for b in after.batch_stats])
        self.assertEqual(len(self.client.get_inference_statistics().model_stats), 1)

    def test_stream(self):
        """Answers in the order of requests, and one that is wrong is answered by an error while the stream goes on."""
        with triton.InferenceServerClient(self.process.address) as client:
            done = queue.Queue()
            client.start_stream(lambda result, error: done.put((result, error)))
            for seed in range(300):
                x, n = arrays(seed)
                wrong = seed % 10 == 5
                client.async_stream_infer('toy', inputs(x, n)[:1] if wrong else inputs(x, n), request_id=str(seed))
            for seed in range(300):
                result, error = done.get(timeout=30)
                if seed % 10 == 5:
                    self.assertIsNotNone(error)
                    continue
                self.assertIsNone(error, (seed, error))
                self.assertEqual(result.get_response().id, str(seed))
                self.check(result, *arrays(seed))
            client.stop_stream()

    def test_health_and_reflection(self):
        with grpc.insecure_channel(self.process.address) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            for service in ('', 'inference.GRPCInferenceService'):
                response = health.Check(health_pb2.HealthCheckRequest(service=service))
                self.assertEqual(response.status, health_pb2.HealthCheckResponse.SERVING)
            stub = reflection_pb2_grpc.ServerReflectionStub(channel)
            ask = reflection_pb2.ServerReflectionRequest
            name = 'inference.GRPCInferenceService'
            services, file = stub.ServerReflectionInfo(iter([ask(list_services=''), ask(file_containing_symbol=name)]))
            self.assertIn(name, [s.name for s in services.list_services_response.service])
            self.check_numbers(file.file_descriptor_response.file_descriptor_proto)

    def check_numbers(self, files):
        """Each field of ours has the number, type and label that tritonclient's has."""
        from google.protobuf import descriptor_pb2
        from tritonclient.grpc import model_config_pb2
        theirs = {}

        def collect(into, prefix, messages):
            for message in messages:
                for field in message.field:
                    into[f'{prefix}{message.name}.{field.name}'] = field.number, field.type, field.label, field.type_name
                collect(into, f'{prefix}{message.name}.', message.nested_type)
        for module in (service_pb2, model_config_pb2):
            collect(theirs, '', descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb).message_type)
        ours = {}
        for file in files:
            collect(ours, '', descriptor_pb2.FileDescriptorProto.FromString(file).message_type)
        self.assertGreater(len(ours), 100)
        # tritonclient's copy of the configuration is older than Triton's own, which has a few fields more.
        known = {name: field for name, field in ours.items() if name in theirs}
        self.assertGreater(len(known), 0.9 * len(ours))
        self.assertEqual({name: theirs[name] for name in known}, known)


@unittest.skipIf(not triton, ABSENT)
class Ends(unittest.TestCase):
    def test_deadline_in_the_queue(self):
        """A request that waits for others to share its batch ends when its client's deadline does, and never runs."""
        with server('--max-queue-delay-us=3000000') as process, triton.InferenceServerClient(process.address) as client:
            x, n = arrays(1)
            began = time.monotonic()
            with self.assertRaises(InferenceServerException) as raised:
                client.infer('toy', inputs(x, n), client_timeout=0.2)
            self.assertEqual(raised.exception.status(), 'StatusCode.DEADLINE_EXCEEDED')
            self.assertLess(time.monotonic() - began, 2)
            time.sleep(4)
            (statistics,) = client.get_inference_statistics('toy').model_stats
            self.assertEqual((statistics.execution_count, statistics.inference_stats.fail.count), (0, 1))

    def test_shutdown(self):
        """Requests that were accepted are answered; the server ends by itself."""
        with server('--max-queue-delay-us=1000000') as process, triton.InferenceServerClient(process.address) as client:
            x, n = arrays(1)
            done = queue.Queue()
            client.async_infer('toy', inputs(x, n), lambda result, error: done.put((result, error)))
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            result, error = done.get(timeout=20)
            self.assertIsNone(error)
            np.testing.assert_array_equal(result.as_numpy('y'), x + n)
            self.assertEqual(process.wait(timeout=20), 0)

    def test_replaced_workers_fail_no_call(self):
        """SIGUSR2, under load: calls go on while one worker takes the other's place."""
        failures, answers, done = [], [], threading.Event()

        def call(address, seed):
            with triton.InferenceServerClient(address) as client:
                x, n = arrays(seed)
                while not done.is_set():
                    try:
                        np.testing.assert_array_equal(client.infer('toy', inputs(x, n)).as_numpy('y'), x + n)
                        answers.append(seed)
                    except Exception as error:
                        failures.append(repr(error))

        def wait_for(words, process):
            for line in process.stderr:
                if words in line:
                    return
            raise AssertionError(f'the server ended without "{words}"')

        with server() as process:
            threads = [threading.Thread(target=call, args=(process.address, seed)) for seed in range(4)]
            for thread in threads:
                thread.start()
            try:
                for _ in range(3):
                    before = len(answers)
                    while len(answers) < before + 100 and not failures:
                        time.sleep(0.01)
                    process.send_signal(signal.SIGUSR2)
                    wait_for('another worker serves now', process)
            finally:
                done.set()
                for thread in threads:
                    thread.join()
            self.assertEqual(failures, [])

    def test_a_killed_worker_is_followed_by_another(self):
        with server() as process, triton.InferenceServerClient(process.address) as client:
            x, n = arrays(1)
            client.infer('toy', inputs(x, n))
            worker = int(subprocess.run(['ps', '-o', 'pid=', '--ppid', str(process.pid)], capture_output=True, text=True).stdout.split()[0])
            os.kill(worker, signal.SIGKILL)
            began = time.monotonic()
            while True:  # calls that were on their way end with UNAVAILABLE, those that follow are answered
                try:
                    result = client.infer('toy', inputs(x, n), client_timeout=30)
                    break
                except InferenceServerException as error:
                    self.assertEqual(error.status(), 'StatusCode.UNAVAILABLE')
                    self.assertLess(time.monotonic() - began, 30)
            np.testing.assert_array_equal(result.as_numpy('y'), x + n)


if __name__ == '__main__':
    PROGRAM = sys.argv.pop(1)
    report_skips.run()
