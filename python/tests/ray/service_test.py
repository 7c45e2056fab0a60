"""Service by itself, and as a deployment of Ray Serve: texts and arrays, HTTP, new settings, health."""
import asyncio
import json
import unittest
import urllib.error
import urllib.request

import numpy as np

from ray_case import LEVEL, RayCase, batch, truth, vector_truth

import tenfold
from tenfold.ray import Service

CPU = dict(device='cpu', threads=1, plan_cache=False)
QUICK = dict(CPU, model_kwargs={'optimization_level': 0})


def wait(coroutine):
    return asyncio.run(coroutine)


def post(path, body):
    request = urllib.request.Request(f'http://127.0.0.1:{PORT}{path}', json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


PORT = 18431


class Services(RayCase):
    def test_by_itself(self):
        encoder = self.encoder()
        service = Service(self.path('bert'), **QUICK)
        self.near(wait(service(['fine.', 'you']))[0], vector_truth(encoder, 'fine.'), 1e-4)
        wait(service.check_health())
        self.refused(tenfold.InvalidArgument, ['text 1', 'null'], wait, service(['fine.', None]))
        self.refused(tenfold.InvalidArgument, ['list of texts', 'str'], wait, service('fine.'))
        before = service._model
        wait(service.reconfigure({}))
        self.assertIs(service._model, before)
        wait(service.reconfigure({'truncate_dim': 3}))
        self.assertEqual(wait(service(['fine.'])).shape, (1, 3))
        for wrong, words in (({'truncate_dims': 3}, "'truncate_dim' is meant"), ({'path': '/nowhere'}, '/nowhere')):
            self.refused(Exception, words, wait, service.reconfigure(wrong))
            self.assertEqual(wait(service(['fine.'])).shape, (1, 3))   # the one before goes on
        arrays = Service(self.onnx_file(), **CPU, **LEVEL)
        self.near(wait(arrays({'x': batch()}))['y'], truth(batch()))
        wait(arrays.check_health())
        wait(arrays.reconfigure({'path': self.onnx_file('other.onnx')}))
        self.near(wait(arrays({'x': batch()}))['y'], truth(batch()))

    def test_health_of_a_model_that_is_lost(self):
        self.encoder()
        service = Service(self.path('bert'), **QUICK)
        service._model.vectors = lambda texts: (np.zeros((1, 4)), {})
        self.refused(RuntimeError, 'no vector', wait, service.check_health())

    def test_by_serve(self):
        from ray import serve
        encoder = self.encoder()
        serve.start(http_options={'host': '127.0.0.1', 'port': PORT})
        self.addCleanup(serve.shutdown)
        made = tenfold.ray.Deployment.options(user_config={'truncate_dim': 4}, ray_actor_options={'num_cpus': 1})
        handle = serve.run(made.bind(self.path('bert'), **QUICK))
        expected = vector_truth(encoder, 'fine.')
        self.near(handle.remote(['fine.']).result()[0], expected[:4], 1e-4)
        status, answer = post('/', {'texts': ['you', 'fine.']})
        self.assertEqual(status, 200)
        self.near(answer['embeddings'][1], expected[:4], 1e-4)
        for body, words in (({'texts': [7]}, 'text 0'), ({'text': []}, '"texts"'), ([], '"texts"')):
            status, answer = post('/', body)
            self.assertEqual(status, 400)
            self.assertIn(words, answer['error'])
        handle = serve.run(made.options(user_config={'truncate_dim': 2}).bind(self.path('bert'), **QUICK))
        self.near(handle.remote(['fine.']).result()[0], expected[:2], 1e-4)


if __name__ == '__main__':
    unittest.main()
