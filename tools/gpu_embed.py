"""Texts to vectors by `tenfold embed` on one GPU, on one that is named twice, and on all that there are. Part of the bundle that
script/gpu-check makes; gpu_figures.py calls it.

The encoder has MiniLM's shape and random weights in a folder of its own, with a vocabulary of words: speed does not depend on the values.
"""
import json, os, re, statistics, struct, subprocess, sys

from gpu_common import TENFOLD, cosine, np

LAYERS, WIDTH, WIDE, HEADS, WORDS, PLACES = 6, 384, 1536, 12, 30522, 512
TEXTS, ROUNDS, LIMIT = 200_000, 3, 300
AIMS = {2: 1.9, 4: 3.6}   # times one GPU
OWN = 340, 24             # texts and tokens of a run that tells the engine's own rate


def tensors():
    """Names and shapes of a BERT's weights."""
    linear = lambda name, out, into: {name + '.weight': (out, into), name + '.bias': (out,)}
    norm = lambda name: {name + '.weight': (WIDTH,), name + '.bias': (WIDTH,)}
    all = {'embeddings.word_embeddings.weight': (WORDS, WIDTH), 'embeddings.position_embeddings.weight': (PLACES, WIDTH),
           'embeddings.token_type_embeddings.weight': (2, WIDTH), **norm('embeddings.LayerNorm')}
    for i in range(LAYERS):
        layer = f'encoder.layer.{i}.'
        for part in ('self.query', 'self.key', 'self.value', 'output.dense'):
            all |= linear(f'{layer}attention.{part}', WIDTH, WIDTH)
        all |= norm(layer + 'attention.output.LayerNorm') | norm(layer + 'output.LayerNorm')
        all |= linear(layer + 'intermediate.dense', WIDE, WIDTH) | linear(layer + 'output.dense', WIDTH, WIDE)
    return all


def word(i):
    """A word of letters for each number."""
    text = ''
    while True:
        i, letter = divmod(i, 26)
        text += chr(97 + letter)
        if not i:
            return text


def write_encoder(folder):
    os.makedirs(folder, exist_ok=True)
    random, table, body, at = np.random.default_rng(1), {}, [], 0
    for name, shape in tensors().items():
        values = (random.standard_normal(shape, np.float32) * 0.05 + name.endswith('LayerNorm.weight')).astype(np.float16)
        table[name] = dict(dtype='F16', shape=shape, data_offsets=(at, at + values.nbytes))
        at += values.nbytes
        body.append(values.tobytes())
    text = json.dumps(table).encode()
    with open(os.path.join(folder, 'model.safetensors'), 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + b''.join(body))
    config = dict(model_type='bert', hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=LAYERS, intermediate_size=WIDE,
                  vocab_size=WORDS, type_vocab_size=2, max_position_embeddings=PLACES, hidden_act='gelu', layer_norm_eps=1e-12)
    names = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'] + [word(i) for i in range(WORDS - 4)]
    special = [dict(id=i, content=names[i], single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
               for i in range(4)]
    tokenizer = dict(version='1.0', truncation=None, padding=None, added_tokens=special, decoder=None,
                     model=dict(type='WordPiece', unk_token='[UNK]', continuing_subword_prefix='##', max_input_chars_per_word=100,
                                vocab={name: i for i, name in enumerate(names)}),
                     normalizer=dict(type='BertNormalizer', clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True),
                     pre_tokenizer=dict(type='BertPreTokenizer'),
                     post_processor=dict(type='BertProcessing', cls=['[CLS]', 2], sep=['[SEP]', 3]))
    words = dict(tokenizer_class='PreTrainedTokenizerFast', model_max_length=PLACES, pad_token='[PAD]', unk_token='[UNK]',
                 cls_token='[CLS]', sep_token='[SEP]')   # for sentence-transformers
    for name, value in (('config.json', config), ('tokenizer.json', tokenizer), ('tokenizer_config.json', words)):
        with open(os.path.join(folder, name), 'w') as f:
            json.dump(value, f)


def write_texts(path, count):
    """Lines of 4 to 60 words, short ones more often."""
    random = np.random.default_rng(2)
    lengths = np.clip(random.gamma(2.5, 8, count), 4, 60).astype(int)
    with open(path, 'w') as f:
        for length in lengths:
            f.write(' '.join(word(int(i)) for i in random.integers(0, WORDS - 4, length)) + '\n')


# The vectors of all lines by sentence-transformers in fp16: once as it comes, once compiled. Batches are sorted by length, as it does.
PEER = """
import json, sys, time
import numpy as np, torch
from sentence_transformers import SentenceTransformer
folder, lines, out = sys.argv[1:]
texts = open(lines).read().splitlines()
model = SentenceTransformer(folder, device='cuda', model_kwargs={'torch_dtype': torch.float16})
took = {}
for name in ('eager', 'compiled'):
    if name == 'compiled':
        model[0].auto_model = torch.compile(model[0].auto_model, dynamic=True)
    model.encode(texts[::20], batch_size=256)   # kernels and buffers are made
    took[name] = []
    for _ in range(3):
        start = time.time()
        vectors = model.encode(texts, batch_size=256)
        took[name].append(time.time() - start)
    np.save(out, vectors)
    print(json.dumps({n: sorted(t)[1] for n, t in took.items()}), flush=True)
"""


def beside_peer(a, folder, lines, log):
    """Seconds of sentence-transformers by how it computes; {} where it is not installed. Its vectors are in peer.npy then."""
    done = subprocess.run([sys.executable, '-c', PEER, folder, lines, os.path.join(a.models, 'peer.npy')], capture_output=True, text=True,
                          timeout=LIMIT)
    with open(log, 'a') as f:
        f.write(done.stderr + done.stdout)
    told = [line for line in done.stdout.splitlines() if line.startswith('{')]
    return json.loads(told[-1]) if told else {}


def tokens_a_second(a, device):
    """Of the plan for texts of one length, where a run has about as many tokens as `embed` gives it: with inputs and results on the host,
    without making tokens."""
    plans = os.path.join(a.models, 'embed-plans')
    steps = lambda plan: subprocess.run([TENFOLD, 'inspect', plan], capture_output=True, text=True, timeout=LIMIT).stdout
    kept = sorted(os.path.join(plans, name) for name in os.listdir(plans) if name.endswith('.plan'))
    plan = next(plan for plan in kept if 'TokenPositions' not in steps(plan))
    words = [TENFOLD, 'exec', f'--loadEngine={plan}', f'--device={device}', f'--shapes=ids:{OWN[0]}x{OWN[1]}', '--duration=2']
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
    return float(re.search(r'Throughput: ([0-9.]+) qps', done.stdout + done.stderr)[1]) * OWN[0] * OWN[1]


def rows(a, device, log, count=TEXTS):
    """What, aim, found and detail of each figure. `device`: the first; the others have the next numbers."""
    folder, lines = os.path.join(a.models, 'embed'), os.path.join(a.models, 'embed.txt')
    write_encoder(folder)
    write_texts(lines, count)

    def seconds(name, devices):
        words = [TENFOLD, 'embed', folder, lines, os.path.join(a.models, name + '.npy'), '--device=' + ','.join(devices),
                 '--precision=fp16', '--quiet', f'--planCache={a.models}/embed-plans']
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
        with open(log, 'a') as f:
            f.write(' '.join(words) + '\n' + done.stderr + done.stdout)
        if done.returncode or '(failed)' in done.stdout:
            raise RuntimeError((done.stderr + done.stdout).strip().splitlines()[-1][:300])
        return float(re.search(r'texts in ([0-9.]+) s', done.stdout)[1])

    kind, _, first = device.partition(':')
    there = len(subprocess.run(['nvidia-smi', '-L'], capture_output=True, text=True).stdout.splitlines()) if kind == 'cuda' else 1
    sets = {'once': [device], 'twice': [device, device]}
    for n in (2, 4, 8):
        if there >= n:
            sets[f'{n} GPUs'] = [f'{kind}:{int(first) + i}' for i in range(n)]
    for name, devices in sets.items():   # plans are made, and kept
        seconds(name, devices)
    found = {name: [] for name in sets}
    for _ in range(ROUNDS):
        for name, devices in sets.items():
            found[name].append(seconds(name, devices))
    times = {name: statistics.median(values) for name, values in found.items()}
    one = np.load(os.path.join(a.models, 'once.npy'))
    near = lambda name: min(cosine(x, y) for x, y in zip(one[::97], np.load(os.path.join(a.models, name + '.npy'))[::97]))
    yield (f"MiniLM's shape in fp16, {count:,} texts, from a file of texts to one of vectors: texts a second", None, count / times['once'],
           f"{times['once']:.1f} s")
    own, tokens = tokens_a_second(a, device), sum(line.count(' ') + 3 for line in open(lines))
    rate = tokens / times['once']
    yield "the same, tokens a second by the engine's own", 0.6, rate / own, f'{rate / 1e6:.2f} / {own / 1e6:.2f} million'
    for how, peer in beside_peer(a, folder, lines, log).items():
        yield (f'the same beside sentence-transformers, fp16, {how}, from a list of texts to an array', 4, peer / times['once'],
               f"{peer:.1f} / {times['once']:.1f} s, least cosine {near('peer'):.6f}")
    yield 'the same, the GPU named once / twice', 1.0, times['once'] / times['twice'], f"least cosine {near('twice'):.6f}"
    for name in list(sets)[2:]:
        yield (f'the same, one GPU / {name}', AIMS.get(len(sets[name])), times['once'] / times[name],
               f"{times[name]:.1f} s, least cosine {near(name):.6f}")
