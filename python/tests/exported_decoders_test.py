"""tenfold.Decoder of files that optimum and onnxruntime-genai's builder write, of small models with random weights, beside ONNX Runtime.

Torch, transformers, onnxruntime and one of the two exporters have to be installed; each test says what it misses.
"""
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
os.environ.update(HF_HUB_OFFLINE='1', TRANSFORMERS_OFFLINE='1')
import numpy as np
import onnx

import tenfold
from case import Case
from onnx_decoders_case import Stepwise

HAVE = all(importlib.util.find_spec(name) for name in ('torch', 'transformers', 'tokenizers', 'onnxruntime'))
if HAVE:
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

QUICK = dict(device='cpu', optimization_level=0, plan_cache=False, tf32=False, max_length=256, prompt_chunk=16)
WORDS, LAYERS, HEADS, SIZE = 96, 2, 2, 16
COMMON = dict(vocab_size=112, hidden_size=64, intermediate_size=96, num_hidden_layers=LAYERS, num_attention_heads=4,
              num_key_value_heads=HEADS, max_position_embeddings=256, bos_token_id=2, eos_token_id=1, pad_token_id=None,
              initializer_range=0.2)
KINDS = {'llama': {}, 'mistral': dict(sliding_window=16), 'qwen2': {}, 'qwen3': dict(head_dim=SIZE),
         'gemma2': dict(head_dim=SIZE, sliding_window=16),
         'gpt2': dict(n_embd=64, n_layer=LAYERS, n_head=4, n_positions=256)}
PROMPTS = [[3, 7, 11, 4, 5, 9, 80, 33, 2], [5], [9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 11, 22, 33]]


def save(folder, kind):
    torch.manual_seed(0)
    common = dict(vocab_size=112, bos_token_id=2, eos_token_id=1, initializer_range=0.2) if kind == 'gpt2' else COMMON
    config = transformers.AutoConfig.for_model(kind, **common, **KINDS[kind])
    transformers.AutoModelForCausalLM.from_config(config).eval().save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({f'w{i}': i for i in range(WORDS)}, unk_token='w0'))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token='w0', eos_token='w1').save_pretrained(folder)


@functools.cache
def works(module):
    """Whether an exporter is there and goes with the packages around it: they ask for certain versions of transformers."""
    found = HAVE and importlib.util.find_spec(module.split('.')[0]) is not None
    return found and subprocess.run([sys.executable, '-c', f'import {module}'], capture_output=True).returncode == 0


class Exported(Case):
    def source(self, kind):
        folder = self.path('source ' + kind)
        save(folder, kind)
        return folder

    def run_exporter(self, *command):
        done = subprocess.run([sys.executable, '-m', *command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def compare(self, folder, kind, count=200):
        class Truth:
            shared, size, fixed = 4 if kind == 'gpt2' else HEADS, SIZE, False
            path = staticmethod(lambda name: os.path.join(folder, name))
        stepwise = Stepwise(Truth)
        decoder = tenfold.Decoder(folder, max_batch=3, **QUICK)
        for prompt, result in zip(PROMPTS, decoder.generate(PROMPTS, max_tokens=count, ignore_end=True)):
            expected, rows = stepwise.greedy(prompt, count)
            self.assertEqual(result.ids, expected)
            session = decoder.start()
            for i, last in enumerate([prompt, *([id] for id in expected[:20])]):
                self.assertLess(np.abs(session.append([last])[0] - rows[i]).max() / np.abs(rows[i]).max(), 1e-4)
        self.assertEqual([one.op for one in decoder.engine.inspection().programs[0].steps].count('TensorScatter'), 2 * LAYERS)

    @unittest.skipUnless(works('optimum.exporters.onnx.__main__'), 'optimum-onnx with torch and a transformers that it goes with')
    def test_optimum(self):
        for kind in KINDS:
            with self.subTest(kind):
                folder = self.path('optimum ' + kind)
                self.run_exporter('optimum.commands.optimum_cli', 'export', 'onnx', '--model', self.source(kind), '--task',
                                  'text-generation-with-past', folder)
                self.compare(folder, kind)

    @unittest.skipUnless(works('onnxruntime_genai.models.builder'), 'onnxruntime-genai with torch and a transformers that it goes with')
    def test_genai(self):
        for kind in ('llama', 'mistral', 'qwen2', 'qwen3'):
            source = self.source(kind)
            for precision in ('fp32', 'int4'):
                with self.subTest(kind, precision=precision):
                    folder = self.path(f'genai {kind} {precision}')
                    self.run_exporter('onnxruntime_genai.models.builder', '-i', source, '-o', folder, '-p', precision, '-e', 'cpu', '-c',
                                      self.path('cache'))
                    self.exact(os.path.join(folder, 'model.onnx'))
                    self.compare(folder, kind)
                    shutil.rmtree(folder)

    def exact(self, path):
        """Products of int4 weights with floats; accuracy_level 4 lets ONNX Runtime round activations to int8."""
        model = onnx.load(path, load_external_data=False)
        for attribute in [one for node in model.graph.node for one in node.attribute if one.name == 'accuracy_level']:
            attribute.i = 0
        onnx.save(model, path)


if __name__ == '__main__':
    unittest.main()
