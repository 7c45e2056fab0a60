"""Lists of sentences over HTTP to `tenfold-server` on a GPU, beside the engine's own rate. Part of the bundle that script/gpu-check makes;
gpu_figures.py calls it.

The encoder and the texts are gpu_embed.py's. A request is what OpenAI's client sends: 32 texts, vectors as base64.
"""
import base64, json, os, socket, statistics, subprocess, time, urllib.request

import gpu_embed
import serve_requests   # of bench/, beside this file in the bundle
from gpu_common import HERE, TENFOLD, cosine, np

LIST, REQUESTS, ROUNDS, SECONDS = 32, 200, 3, 4
CLIENTS = 4, 16, 64


def write_requests(path, lists):
    """No tag, no timeout, no values to compare."""
    made = [serve_requests.post('/v1/embeddings', serve_requests.texts('m', texts), serve_requests.JSON) for texts in lists]
    serve_requests.write(path, [serve_requests.record(one) for one in made])


def vectors(port, texts):
    asked = urllib.request.Request(f'http://127.0.0.1:{port}/v1/embeddings', serve_requests.texts('m', texts), serve_requests.JSON)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return [np.frombuffer(base64.b64decode(one['embedding']), np.float32) for one in json.load(answer)['data']]


class Server:
    def __init__(self, folder, a, device, log):
        with socket.create_server(('127.0.0.1', 0)) as s:
            self.port = s.getsockname()[1]
        words = [os.path.join(HERE, 'tenfold-server'), folder, '--name=m', f'--device={device}', '--precision=fp16',
                 f'--http-port={self.port}', '--allow-grpc=false', '--allow-metrics=false', f'--plan-cache-dir={a.models}/serve-plans']
        self.log = open(log, 'a')
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.time() + gpu_embed.LIMIT
        while time.time() < end and self.process.poll() is None:
            try:
                urllib.request.urlopen(f'http://127.0.0.1:{self.port}/v2/health/ready', timeout=2).close()
                return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise RuntimeError('tenfold-server was not ready; its log is in OUT')

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()

    def load(self, requests, clients):
        words = [os.path.join(HERE, 'serve_load'), f'--port={self.port}', f'--requests={requests}', f'--clients={clients}',
                 f'--seconds={SECONDS}', '--warmup=1']
        found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout)
        if bad := {name: found[name] for name in ('wrong', 'failed', 'lost', 'unanswered') if found[name]}:
            raise RuntimeError(f'{bad}, {found["first_failed"]}')
        return found['per_second'], found['ok']['p50_us'] / 1e3


def rows(a, device, log):
    """What, aim, found and detail of each figure."""
    folder, lines = os.path.join(a.models, 'embed'), os.path.join(a.models, 'serve.txt')
    gpu_embed.write_encoder(folder)
    gpu_embed.write_texts(lines, LIST * REQUESTS)
    texts = open(lines).read().splitlines()
    lists = [texts[i:i + LIST] for i in range(0, len(texts), LIST)]
    requests = os.path.join(a.models, 'serve.requests')
    write_requests(requests, lists)
    out = os.path.join(a.models, 'serve.npy')   # the same vectors by `tenfold embed`, whose plan is also the one that is timed alone
    words = [TENFOLD, 'embed', folder, lines, out, f'--device={device}', '--precision=fp16', '--quiet',
             f'--planCache={a.models}/embed-plans']
    subprocess.run(words, check=True, capture_output=True, timeout=gpu_embed.LIMIT)
    own = gpu_embed.tokens_a_second(a, device)
    tokens = sum(text.count(' ') + 3 for text in texts) / len(texts)
    with Server(folder, a, device, log) as server:
        near = min(cosine(x, y) for x, y in zip(vectors(server.port, lists[0]), np.load(out)[:LIST]))
        for clients in CLIENTS:
            found = [server.load(requests, clients) for _ in range(ROUNDS)]
            rate, middle = (statistics.median(f[i] for f in found) for i in (0, 1))
            yield (f"MiniLM's shape in fp16, lists of {LIST} texts as base64 over HTTP, {clients} clients: tokens a second by the engine's"
                   ' own', 0.5 if clients == CLIENTS[-1] else None, rate * LIST * tokens / own,
                   f'{rate * LIST:,.0f} texts/s, {rate * LIST * tokens / 1e6:.2f} / {own / 1e6:.2f} million tokens/s, a list in '
                   f'{middle:.1f} ms in the median, least cosine {near:.6f}')
