"""Encoders of a folder by every library that bench/embeddings.py compares: a function from texts to vectors for each.

What a peer needs of `a`: folder (as sentence-transformers saves it), onnx (the same with pooling and normalization, or None), threads,
level and plans (Tenfold's).
"""
import importlib.util
import os
import tempfile

import numpy as np

BATCH = 32


def tenfold_encoder(a):
    from tenfold.embeddings import SentenceTransformer
    return SentenceTransformer(a.folder, device='cpu', model_kwargs=dict(threads=a.threads, optimization_level=a.level),
                               plan_cache=a.plans).prepare().encode


def by_length(a, run):
    """As people write it: batches in the order of lengths, padded to the longest; `run` has ids and mask, and gives vectors."""
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(os.path.join(a.folder, 'tokenizer.json'))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def encode(texts):
        one = isinstance(texts, str)
        texts = [texts] if one else texts
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        out = None
        for at in range(0, len(order), BATCH):
            places = order[at:at + BATCH]
            encoded = tokenizer.encode_batch([texts[i] for i in places])
            rows = run(np.array([e.ids for e in encoded]), np.array([e.attention_mask for e in encoded]))
            out = np.empty((len(texts), rows.shape[1]), np.float32) if out is None else out
            out[places] = rows
        return out[0] if one else out
    return encode


def onnxruntime_encoder(a):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = a.threads
    session = ort.InferenceSession(a.onnx, options, providers=['CPUExecutionProvider'])
    return by_length(a, lambda ids, mask: session.run(None, {'input_ids': ids, 'attention_mask': mask})[0])


def openvino_encoder(a):
    import openvino as ov
    core = ov.Core()
    compiled = core.compile_model(core.read_model(a.onnx), 'CPU', {'INFERENCE_NUM_THREADS': a.threads, 'PERFORMANCE_HINT': 'LATENCY',
                                                                  'INFERENCE_PRECISION_HINT': 'f32'})
    request = compiled.create_infer_request()
    return by_length(a, lambda ids, mask: request.infer({'input_ids': ids, 'attention_mask': mask})[compiled.output(0)])


def fastembed_encoder(a):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType
    folder = tempfile.mkdtemp()
    for name in os.listdir(a.folder):
        if name.endswith('.json'):
            os.symlink(os.path.abspath(os.path.join(a.folder, name)), os.path.join(folder, name))
    os.symlink(os.path.abspath(a.onnx), os.path.join(folder, 'model.onnx'))
    TextEmbedding.add_custom_model(model='local/minilm', pooling=PoolingType.DISABLED, normalization=False, dim=384,
                                   sources=ModelSource(hf='local/minilm'), model_file='model.onnx')
    model = TextEmbedding('local/minilm', specific_model_path=folder, threads=a.threads)
    return lambda texts: next(iter(model.embed([texts]))) if isinstance(texts, str) else np.array(list(model.embed(texts)))


def torch_encoder(a):
    import torch
    from sentence_transformers import SentenceTransformer
    torch.set_num_threads(a.threads)
    model = SentenceTransformer(a.folder, device='cpu')
    return lambda texts: model.encode(texts, show_progress_bar=False)


def tenfold_ranker(a):
    from tenfold.embeddings import CrossEncoder
    model = CrossEncoder(a.folder, device='cpu', model_kwargs=dict(threads=a.threads, optimization_level=a.level), plan_cache=a.plans)
    return model.prepare().rank


def torch_ranker(a):
    import torch
    from sentence_transformers import CrossEncoder
    torch.set_num_threads(a.threads)
    model = CrossEncoder(a.folder, device='cpu')
    return lambda query, texts: model.rank(query, texts, show_progress_bar=False)


# Name: the module that has to be there, whether MODEL.onnx is needed, the encoder.
ENCODERS = {'tenfold': ('tenfold', False, tenfold_encoder),
            'onnxruntime': ('onnxruntime', True, onnxruntime_encoder),
            'openvino': ('openvino', True, openvino_encoder),
            'fastembed': ('fastembed', True, fastembed_encoder),
            'sentence_transformers': ('sentence_transformers', False, torch_encoder)}
RANKERS = {'tenfold': ('tenfold', False, tenfold_ranker), 'sentence_transformers': ('sentence_transformers', False, torch_ranker)}


def installed(table, onnx):
    """Those of a table that can run here: {name: function}; and the names of those that cannot."""
    there = {name: make for name, (module, needs_onnx, make) in table.items()
             if importlib.util.find_spec(module) and (onnx or not needs_onnx)}
    return there, [name for name in table if name not in there]
