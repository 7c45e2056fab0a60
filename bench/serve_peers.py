"""Peers of `tenfold serve` for rows of products: the same encoder or image model behind other servers, as processes or Triton's folders.

    serve_peers.py FOLDER MODEL.onnx PORT WORKERS     an encoder by FastAPI, tokenizers and ONNX Runtime, with the body of OpenAI's API

Each worker of FastAPI is a process with one thread of ONNX Runtime, as is each instance of Triton's: with more threads each they wait for
one another.
"""
import base64
import os
import pathlib
import sys

import serve_common

# Of Triton's Python backend, for texts: batches are padded to their longest.
TEXT_MODEL = '''import sys
sys.path.append({packages!r})   # behind the backend's NumPy 1: with NumPy 2 its tensors are empty
import numpy as np
import onnxruntime
import triton_python_backend_utils as pb
from tokenizers import Tokenizer


class TritonPythonModel:
    def initialize(self, args):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession({model!r}, options, providers=['CPUExecutionProvider'])
        self.tokenizer = Tokenizer.from_file({tokenizer!r})
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    def execute(self, requests):
        texts = [[t.decode() for t in pb.get_input_tensor_by_name(r, 'text').as_numpy().ravel()] for r in requests]
        encoded = self.tokenizer.encode_batch([t for some in texts for t in some])
        rows = self.session.run(None, {{'input_ids': np.array([e.ids for e in encoded]),
                                        'attention_mask': np.array([e.attention_mask for e in encoded])}})[0]
        ends = np.cumsum([len(some) for some in texts])
        return [pb.InferenceResponse([pb.Tensor('embedding', part)]) for part in np.split(rows, ends[:-1])]
'''
TEXT_CONFIG = '''backend: "python"
max_batch_size: 32
input {{ name: "text" data_type: TYPE_STRING dims: [ 1 ] }}
output {{ name: "embedding" data_type: TYPE_FP32 dims: [ {width} ] }}
dynamic_batching {{ }}
instance_group {{ count: {instances} kind: KIND_CPU }}
'''


def make_app(folder, model):
    import numpy as np
    import onnxruntime
    from fastapi import FastAPI
    from pydantic import BaseModel
    from tokenizers import Tokenizer
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])
    tokenizer = Tokenizer.from_file(os.path.join(folder, 'tokenizer.json'))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    app = FastAPI()

    class Body(BaseModel):
        input: str
        model: str = ''
        encoding_format: str = 'float'

    @app.get('/v2/health/ready')
    def ready():
        return {}

    @app.post('/v1/embeddings')
    async def embeddings(body: Body):   # in the loop: a thread for each request only takes time from the others
        encoded = tokenizer.encode_batch([body.input])
        row = session.run(None, {'input_ids': np.array([e.ids for e in encoded]),
                                 'attention_mask': np.array([e.attention_mask for e in encoded])})[0][0]
        vector = base64.b64encode(row.tobytes()).decode() if body.encoding_format == 'base64' else row.tolist()
        return {'object': 'list', 'model': body.model, 'data': [{'object': 'embedding', 'index': 0, 'embedding': vector}],
                'usage': {'prompt_tokens': len(encoded[0].ids), 'total_tokens': len(encoded[0].ids)}}

    return app


def app():
    """What uvicorn's workers make."""
    return make_app(os.environ['SERVE_PEERS_FOLDER'], os.environ['SERVE_PEERS_MODEL'])


class FastApi(serve_common.Process):
    def __init__(self, folder, model, log, workers):
        self.http, = serve_common.free_ports(1)
        super().__init__([sys.executable, __file__, str(folder), str(model), str(self.http), str(workers)], log)


class Infinity(serve_common.Process):
    """infinity_emb of an environment of its own, by its program's path; the folder has model.onnx, too."""

    def __init__(self, program, folder, log):
        self.http, = serve_common.free_ports(1)
        os.environ['INFINITY_ANONYMOUS_USAGE_STATS'] = '0'
        # In the folder: with another path optimum 2 does not find the file that infinity has found.
        super().__init__(['env', '-C', str(folder), program, 'v2', '--model-id', '.', '--served-model-name', 'minilm',
                          '--engine', 'optimum', '--device', 'cpu', '--pooling-method', 'mean', '--port', str(self.http),
                          '--no-bettertransformer'], log, seconds=300)

    def ready(self):
        try:
            self.get('/health', 1)
        except OSError:
            return False
        return True


def main():
    import uvicorn
    folder, model, port, workers = sys.argv[1:]
    os.environ['SERVE_PEERS_FOLDER'], os.environ['SERVE_PEERS_MODEL'] = folder, model
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    os.environ['PYTHONPATH'] = str(pathlib.Path(__file__).parent)
    uvicorn.run('serve_peers:app', factory=True, host='127.0.0.1', port=int(port), workers=int(workers), log_level='warning',
                access_log=False)


if __name__ == '__main__':
    main()
