#!/usr/bin/env python3
"""Counts, traces and settings over gRPC: observe_grpc_test.py TENFOLD-SERVER, where tritonclient[grpc] is installed."""

import json
import os
import random
import sys
import threading
import time
import unittest
import urllib.request

import grpc_inference_test as grpc_case
import report_skips

if grpc_case.ABSENT:
    print('skipped:', grpc_case.ABSENT)
    sys.exit(77)

import grpc
import numpy as np
import tritonclient.grpc as triton
from prometheus_client.parser import text_string_to_metric_families
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException


def scrape(http):
    """{name: {labels as a frozenset: value}}, as Prometheus' own parser reads it."""
    with urllib.request.urlopen(f'http://127.0.0.1:{http}/metrics') as response:
        text = response.read().decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


def total(metrics, name, **labels):
    samples = metrics.get(name) or metrics[name + '_total']   # which the parser adds to counters that do not say so
    return sum(value for has, value in samples.items() if set(labels.items()) <= has)


class Counts(unittest.TestCase):
    def test_storm(self):
        with grpc_case.server('--max-batch=4', '--max-queue-size=4', '--metrics-config=tei=true',
                              '--metrics-config=summary_latencies=true') as process:
            sent, lock = {}, threading.Lock()

            def send(stub, kind):
                request = service_pb2.ModelInferRequest(model_name='none' if kind == 'unknown' else 'toy')
                for name, dtype, count in (('x', 'FP32', 16), ('n', 'INT8', 4)):
                    tensor = request.inputs.add(name=name, datatype=dtype)
                    tensor.shape.extend([1, 4])
                    request.raw_input_contents.append(bytes(count - (kind == 'short')))
                if kind == 'name':
                    request.inputs[0].name = 'z'
                if kind == 'late':
                    request.parameters['timeout'].int64_param = 1
                with lock:
                    sent[kind] = sent.get(kind, 0) + 1
                if kind == 'cancelled':
                    call = stub.ModelInfer.future(request)
                    time.sleep(random.random() / 2000)
                    call.cancel()
                elif kind == 'stream':
                    list(stub.ModelStreamInfer(iter([request])))
                else:
                    stub.ModelInfer(request, timeout=0.0005 if kind == 'deadline' else 30)

            def work(number):
                order = random.Random(number)
                with grpc.insecure_channel(process.address) as channel:
                    stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
                    stub.ServerLive(service_pb2.ServerLiveRequest())
                    for _ in range(80):
                        kind = order.choice(['right', 'right', 'stream', 'late', 'name', 'short', 'unknown', 'cancelled', 'deadline'])
                        try:
                            send(stub, kind)
                        except grpc.RpcError:
                            pass

            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            until = time.monotonic() + 30
            while True:
                metrics = scrape(process.http)
                done = total(metrics, 'nv_inference_request_success') + total(metrics, 'nv_inference_request_failure')
                received = total(metrics, 'tenfold_request_received_total')
                if done == received or time.monotonic() > until:
                    break
        self.assertEqual(done, received)
        unassigned = total(metrics, 'tenfold_request_unassigned_total')
        self.assertEqual(unassigned, sent['unknown'])
        # Cancelled ones, and those whose deadline passes, may end before the server has read them.
        everything, maybe = sum(sent.values()), sent['cancelled'] + sent['deadline']
        self.assertLessEqual(everything - maybe, received + unassigned)
        self.assertLessEqual(received + unassigned, everything)
        self.assertEqual(total(metrics, 'nv_inference_request_failure', reason='OTHER'), sent['name'] + sent['short'])
        self.assertGreaterEqual(total(metrics, 'nv_inference_request_success'), sent['right'])


class Settings(unittest.TestCase):
    def test_traces_and_logs(self):
        with grpc_case.server('--trace-config=rate=9', '--trace-config=level=TIMESTAMPS') as process:
            with triton.InferenceServerClient(process.address) as client:
                self.assertEqual(list(client.get_trace_settings().settings['trace_rate'].value), ['9'])
                changed = client.update_trace_settings('toy', {'trace_rate': '3', 'trace_level': ['TIMESTAMPS']})
                self.assertEqual(list(changed.settings['trace_rate'].value), ['3'])
                self.assertEqual(list(client.get_trace_settings().settings['trace_rate'].value), ['9'])
                client.update_trace_settings('toy', {'trace_rate': None})
                self.assertEqual(list(client.get_trace_settings('toy').settings['trace_rate'].value), ['9'])
                with self.assertRaisesRegex(InferenceServerException, 'non-zero'):
                    client.update_trace_settings(None, {'trace_rate': '0'})
                with self.assertRaisesRegex(InferenceServerException, 'none'):
                    client.get_trace_settings('none')
                self.assertTrue(client.get_log_settings().settings['log_info'].bool_param)
                changed = client.update_log_settings({'log_verbose_level': 1, 'log_info': False, 'log_format': 'ISO8601'})
                self.assertEqual(changed.settings['log_verbose_level'].uint32_param, 1)
                self.assertFalse(changed.settings['log_info'].bool_param)
                with self.assertRaisesRegex(InferenceServerException, 'can not be updated'):
                    client.update_log_settings({'log_file': '/tmp/x'})

    def test_traceparent_comes_by_metadata(self):
        from observe_case import PARENT, TRACE, Collector
        collector = Collector()
        url = f'--trace-config=opentelemetry,url=127.0.0.1:{collector.server_port}'
        with grpc_case.server('--trace-config=rate=1000', '--trace-config=level=TIMESTAMPS', url,
                              '--trace-config=opentelemetry,bsp_schedule_delay=20') as process:
            with triton.InferenceServerClient(process.address) as client:
                inputs = [triton.InferInput('x', [1, 4], 'FP32'), triton.InferInput('n', [1, 4], 'INT8')]
                inputs[0].set_data_from_numpy(np.zeros((1, 4), np.float32))
                inputs[1].set_data_from_numpy(np.zeros((1, 4), np.int8))
                client.infer('toy', inputs)   # by the rate it is not traced
                client.infer('toy', inputs, headers={'traceparent': f'00-{TRACE}-{PARENT}-01'})
                spans = collector.wait(1)
        collector.shutdown()
        collector.server_close()
        self.assertEqual([(span['traceId'], span['parentSpanId']) for span in spans], [(TRACE, PARENT)])
        self.assertIn('GRPC', json.dumps(spans))


if __name__ == '__main__':
    grpc_case.PROGRAM = os.path.abspath(sys.argv.pop(1))
    report_skips.run()
