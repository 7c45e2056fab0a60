#!/usr/bin/env python3
"""Ray Data with two actors of Tenfold beside `tenfold embed` on the same cores, and beside two actors of the peers that are installed.

    ray_embed.py MODEL_FOLDER SENTENCES.csv [--tenfold PROGRAM] [--onnx MODEL.onnx] [--texts 20000] [--rounds 3] [--actors 2]
    ray_embed.py MODEL_FOLDER SENTENCES.csv --memory      private memory of an actor with BERT-base's weights over an empty one's
    ray_embed.py MODEL_FOLDER SENTENCES.csv --gpus 2      a process for each GPU, without Ray, beside one process

MODEL_FOLDER: all-MiniLM-L6-v2, as sentence-transformers saves it. SENTENCES.csv: STS-B's test set, whose sentences are repeated in another
order. MODEL.onnx: the same model with pooling, by examples/minilm_to_onnx.py, for onnxruntime. All take turns; a time is that of a whole
job, with the start of its actors, or of the program; Ray itself runs already. Printed are medians, and the versions of all.
"""
import argparse
import csv
import importlib.metadata
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 2000


def sentences(path, count):
    with open(path, newline='') as file:
        texts = [t.replace('\n', ' ') for a, b, _ in csv.reader(file) for t in (a, b)]
    order = np.random.default_rng(3).permutation(count)
    return [texts[i % len(texts)] for i in order]


def private_mb():
    with open('/proc/self/smaps_rollup') as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(('Private_Clean', 'Private_Dirty'))) / 1024


class Peer:
    """An encoder of bench/embeddings_peers.py with one thread, as an actor."""

    def __init__(self, name, folder, onnx):
        sys.path.insert(0, HERE)
        import embeddings_peers
        self.encode = embeddings_peers.ENCODERS[name][2](SimpleNamespace(folder=folder, onnx=onnx, threads=1))

    def __call__(self, rows):
        return {'embedding': np.asarray(self.encode(list(rows['text'])), np.float32)}


def start(actors):
    import ray
    import ray.data
    # Two more than actors hold: reading and collecting need some, or the job waits for ever.
    ray.init(num_cpus=actors + 2, include_dashboard=False, log_to_driver=False, logging_level='ERROR', object_store_memory=500 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray


def by_ray(ray, texts, kind, options, a, form):
    import pyarrow as pa
    blocks = max(2 * a.actors, len(texts) // BATCH)
    rows = ray.data.from_arrow(pa.table({'i': np.arange(len(texts)), 'text': texts})).repartition(blocks).materialize()

    def run():
        done = rows.map_batches(kind, fn_constructor_kwargs=options, batch_size=BATCH, batch_format=form,
                                compute=ray.data.ActorPoolStrategy(size=a.actors)).materialize()
        assert done.count() == len(texts)
    return run


def by_program(program, a, texts, work):
    source, out = os.path.join(work, 'texts.txt'), os.path.join(work, 'out.npy')
    with open(source, 'w') as file:
        file.write('\n'.join(texts) + '\n')
    command = [program, 'embed', a.folder, source, out, '--device=cpu', f'--threads={a.actors}']

    def run():
        subprocess.run(command, check=True, capture_output=True)
        assert np.load(out, mmap_mode='r').shape[0] == len(texts)
    return run


def jobs(a):
    import tenfold
    import tenfold.ray
    texts, ray = sentences(a.sentences, a.texts), start(a.actors)
    with tempfile.TemporaryDirectory() as work:
        program = a.tenfold or os.path.join(os.path.dirname(tenfold.__file__), 'bin', 'tenfold')
        ours = {'folder': a.folder, 'column': 'text', 'keep': []}
        calls = {'tenfold embed': by_program(program, a, texts, work),
                 'Ray + tenfold': by_ray(ray, texts, tenfold.ray.Embedder, ours, a, 'pyarrow')}
        for name, module, there in (('onnxruntime', 'onnxruntime', a.onnx), ('sentence_transformers', 'sentence_transformers', True)):
            if there and importlib.util.find_spec(module):
                calls[f'Ray + {name}'] = by_ray(ray, texts, Peer, {'name': name, 'folder': a.folder, 'onnx': a.onnx}, a, 'numpy')
            else:
                print('left out:', name)
        times = {name: [] for name in calls}
        for turn in range(a.rounds + 1):   # the first one builds plans, and is not counted
            for name, run in calls.items():
                begin = time.perf_counter()
                run()
                if turn:
                    times[name].append(time.perf_counter() - begin)
    middle = {name: statistics.median(each) for name, each in times.items()}
    for name, seconds in middle.items():
        print(f'{name:28} {seconds:8.2f} s {len(texts) / seconds:8.0f} texts/s   {seconds / middle["Ray + tenfold"]:5.2f} of Ray + tenfold'
              f'   {" ".join(f"{s:.2f}" for s in times[name])}')
    print(f'Ray + tenfold beside tenfold embed: {middle["tenfold embed"] / middle["Ray + tenfold"]:.2f} (must 0.85, aim 0.95)')
    if peers := [seconds for name, seconds in middle.items() if name[:5] == 'Ray +' and name != 'Ray + tenfold']:
        print(f'Ray + tenfold beside the better peer: {min(peers) / middle["Ray + tenfold"]:.2f} (must 1.3, aim 2)')


def bert_base(folder, minilm):
    """BERT-base's shape with random weights, and MiniLM's tokenizer, which is the same."""
    sys.path.insert(0, os.path.join(HERE, '..', 'python', 'tests'))
    from embeddings_case import names_of, save_safetensors
    os.makedirs(folder)
    for name in ('tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'vocab.txt'):
        os.symlink(os.path.join(os.path.abspath(minilm), name), os.path.join(folder, name))
    with open(os.path.join(folder, 'config.json'), 'w') as file:
        json.dump(dict(model_type='bert', architectures=['BertModel'], vocab_size=30522, max_position_embeddings=512, hidden_size=768,
                       num_attention_heads=12, num_hidden_layers=12, intermediate_size=3072, hidden_act='gelu', type_vocab_size=2,
                       layer_norm_eps=1e-12, pad_token_id=0), file)
    random, names, tensors = np.random.default_rng(1), names_of('bert'), {}

    def add(name, *shape):
        tensors[name] = random.standard_normal(shape, np.float32) * np.float32(0.02)
    for table, rows in (('word', 30522), ('position', 512), ('token_type', 2)):
        add(f'embeddings.{table}_embeddings.weight', rows, 768)
    norms = ['embeddings.LayerNorm']
    for i in range(12):
        layer = names['layer'].format(i)
        for part, out, into in (('q', 768, 768), ('k', 768, 768), ('v', 768, 768), ('o', 768, 768), ('wide', 3072, 768),
                                ('narrow', 768, 3072)):
            add(f'{layer}{names[part]}.weight', out, into), add(f'{layer}{names[part]}.bias', out)
        norms += [layer + names['n1'], layer + names['n2']]
    for norm in norms:
        tensors[norm + '.weight'], tensors[norm + '.bias'] = np.ones(768, np.float32), np.zeros(768, np.float32)
    save_safetensors(os.path.join(folder, 'model.safetensors'), tensors)
    return sum(one.nbytes for one in tensors.values()) / 2**20


class Empty:
    def measure(self, texts):
        return private_mb()


class Full:
    """Both import the same, so that what differs is the model."""

    def __init__(self, folder):
        import tenfold.ray
        self.embedder = tenfold.ray.Embedder(folder, column='text')

    def embed(self, texts):
        self.embedder({'text': np.array(texts, object)})

    def measure(self, texts):
        return private_mb()


class Imports(Empty):
    def __init__(self):
        import tenfold.ray  # noqa: F401


def memory(a):
    import tenfold.ray  # noqa: F401
    texts, ray = sentences(a.sentences, 2000), start(2)
    with tempfile.TemporaryDirectory() as work:
        weights = bert_base(os.path.join(work, 'bert'), a.folder)
        actors = [ray.remote(num_cpus=1)(Full).remote(os.path.join(work, 'bert')) for _ in range(2)]
        ray.get([actor.embed.remote(texts) for actor in actors])
        full = [ray.get(actor.measure.remote([])) for actor in actors]
        empty = [ray.get(ray.remote(num_cpus=0)(Imports).remote().measure.remote([])) for _ in range(2)]
    over = statistics.mean(full) - statistics.mean(empty)
    listed = lambda sizes: ' '.join(f'{one:.0f}' for one in sizes)
    print(f'weights {weights:.0f} MB; private, with them {listed(full)}, without {listed(empty)}: '
          f'{over:.0f} MB more, {100 * over / weights:.0f} % of the weights (must 25, aim 10)')


ONE_GPU = '''
import sys, time
from tenfold.embeddings import SentenceTransformer
texts = open(sys.argv[2]).read().splitlines()
model = SentenceTransformer(sys.argv[1], device='cuda:0').prepare()
model.encode(texts[:1000])
print('ready', flush=True), sys.stdin.readline()
model.encode(texts)
print('done', flush=True)
'''


def gpus(a):
    """Processes start together, once all engines are there."""
    texts = sentences(a.sentences, max(a.texts, 200000))

    def run(count, work):
        processes = []
        for i in range(count):
            path = os.path.join(work, f'{i}.txt')
            with open(path, 'w') as file:
                file.write('\n'.join(texts[i::count]))
            processes.append(subprocess.Popen([sys.executable, '-c', ONE_GPU, a.folder, path], stdin=subprocess.PIPE,
                                              stdout=subprocess.PIPE, text=True, env={**os.environ, 'CUDA_VISIBLE_DEVICES': str(i)}))
        for one in processes:
            assert one.stdout.readline() == 'ready\n'
        begin = time.perf_counter()
        for one in processes:
            one.stdin.write('\n'), one.stdin.flush()
        for one in processes:
            assert one.stdout.readline() == 'done\n'
        return time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as work:
        times = {count: [] for count in (1, a.gpus)}
        for turn in range(a.rounds + 1):
            for count in times:
                seconds = run(count, work)
                if turn:
                    times[count].append(seconds)
    one, several = (statistics.median(times[count]) for count in (1, a.gpus))
    print(f'{len(texts)} texts: one GPU {one:.2f} s, {a.gpus} GPUs {several:.2f} s: {one / several:.2f} (of two: must 1.8, aim 1.9)')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder')
    p.add_argument('sentences')
    p.add_argument('--tenfold', help='the program (the package\'s)')
    p.add_argument('--onnx')
    p.add_argument('--texts', type=int, default=20000)
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--actors', type=int, default=2)
    p.add_argument('--memory', action='store_true')
    p.add_argument('--gpus', type=int)
    a = p.parse_args()
    a.folder = os.path.abspath(a.folder)
    versions = []
    for name in ('tenfold', 'ray', 'pyarrow', 'numpy', 'onnxruntime', 'tokenizers', 'sentence-transformers', 'torch'):
        try:
            versions.append(f'{name} {importlib.metadata.version(name)}')
        except importlib.metadata.PackageNotFoundError:
            pass
    print(time.strftime('%Y-%m-%d'), ', '.join(versions), f'Python {sys.version.split()[0]}', f'{os.cpu_count()} processors')
    (gpus if a.gpus else memory if a.memory else jobs)(a)


if __name__ == '__main__':
    main()
