"""tenfold.Decoder beside compressed-tensors and transformers: folders that the maker's package compresses, 200 greedy tokens of each.

Torch, transformers and compressed-tensors have to be installed: script/test torch runs it.
"""
import importlib.util
import json
import os
import random
import shutil
import unittest

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
import tenfold
from case import Case
from transformers_decoders_case import HAVE, QUICK, SHAPES, figures, greedy, judged, save

HAVE = HAVE and importlib.util.find_spec('compressed_tensors') is not None
if HAVE:
    import torch
    import transformers
    from compressed_tensors.compressors import IntQuantizationCompressor, NVFP4PackedCompressor, PackedQuantizationCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams
    from safetensors.torch import load_file, save_file


def compress(folder, packed, bits, group, symmetric):
    """A folder of floats becomes a compressed one."""
    kind = PackedQuantizationCompressor if packed else IntQuantizationCompressor
    form = QuantizationArgs(num_bits=bits, type='int', symmetric=symmetric, strategy='group' if group else 'channel', group_size=group)
    scheme = QuantizationScheme(targets=['Linear'], weights=form)
    stored = {}
    for full, w in load_file(os.path.join(folder, 'model.safetensors')).items():
        name = full.removesuffix('.weight')
        if not name.endswith('_proj'):
            stored[full] = w
            continue
        groups = w.reshape(len(w), -1, group or w.shape[1])
        scale, zero = calculate_qparams(groups.amin(-1), groups.amax(-1), form)
        zero = zero.to(torch.int8)
        made = kind.compress({'weight': w, 'weight_scale': scale, 'weight_zero_point': zero}, scheme)
        stored.update({f'{name}.{part}': value.contiguous() for part, value in made.items()})
    save_file(stored, os.path.join(folder, 'model.safetensors'), metadata={'format': 'pt'})
    path = os.path.join(folder, 'config.json')
    with open(path) as file:
        config = json.load(file)
    config['quantization_config'] = {
        'quant_method': 'compressed-tensors', 'format': 'pack-quantized' if packed else 'int-quantized', 'ignore': ['lm_head'],
        'config_groups': {'group_0': {'targets': ['Linear'], 'weights': json.loads(form.model_dump_json())}},
        'quantization_status': 'compressed'}
    with open(path, 'w') as file:
        json.dump(config, file)


def read(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(
        folder, quantization_config=transformers.CompressedTensorsConfig(dequantize=True), dtype=torch.float32).eval()


@unittest.skipUnless(HAVE, 'torch, transformers and compressed-tensors are not installed')
class Compressed(Case):
    def test_200_greedy_tokens(self):
        forms = [(True, 4, 16, True), (True, 4, 16, False), (True, 8, None, False), (True, 4, None, True), (False, 8, 32, True),
                 (False, 8, None, True)]
        for i, form in enumerate(forms):
            kind, shape = ('llama', 'qwen2', 'mistral')[i % 3], SHAPES[(0, 3, 5)[i // 2]]   # widths that groups divide
            with self.subTest(kind, form=form):
                folder = self.path(str(i))
                save(folder, kind, shape, i % 2)
                compress(folder, *form)
                self.compare(folder, i)

    def test_folders_that_tenfold_writes(self):
        for i, weights in enumerate(('int4:g32', 'int8', 'mxfp4', 'int4:g16')):
            with self.subTest(weights):
                folder, out = self.path(f'from{i}'), self.path(f'to{i}')
                model = save(folder, ('llama', 'mistral', 'qwen2', 'qwen3')[i], SHAPES[(0, 3, 0, 5)[i]], i % 2)
                model.to((torch.float32, torch.bfloat16)[i % 2]).save_pretrained(folder)
                tenfold.quantize_decoder(folder, out, weights)
                self.compare(out, i, (1e-4, 2e-2)[i % 2])   # transformers rounds weights to the type of their scales

    def test_nvfp4(self):
        """The package's weights are bf16: each is within half a step of the one that the decoder computes with."""
        folder, out = self.path('floats'), self.path('nvfp4')
        save(folder, 'llama', SHAPES[0], 0)
        tenfold.quantize_decoder(folder, out, 'nvfp4')
        stored = load_file(os.path.join(out, 'model.safetensors'))
        form = QuantizationArgs(num_bits=4, type='float', symmetric=True, strategy='tensor_group', group_size=16)
        scheme, names = QuantizationScheme(targets=['Linear'], weights=form), [n for n in stored if n.endswith('.weight_packed')]
        self.assertGreater(len(names), 6)
        plain = {n: value for n, value in stored.items() if '.weight_' not in n}
        for name in (n.removesuffix('.weight_packed') for n in names):
            parts = {part: stored[f'{name}.{part}'] for part in ('weight_packed', 'weight_scale', 'weight_global_scale')}
            theirs = NVFP4PackedCompressor.decompress(parts, scheme)['weight'].float()
            codes = torch.stack([parts['weight_packed'] & 15, parts['weight_packed'] >> 4], -1).flatten(1).long()
            steps = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * (1 - 2 * (codes >> 3))
            scales = parts['weight_scale'].float() / parts['weight_global_scale']
            ours = steps * scales.repeat_interleave(16, 1)
            torch.testing.assert_close(theirs, ours, rtol=2 ** -7, atol=0)
            plain[name + '.weight'] = ours
        floats = self.path('exact')
        os.makedirs(floats)
        for file in ('config.json', 'tokenizer.json'):
            shutil.copy(os.path.join(folder, file), floats)
        save_file(plain, os.path.join(floats, 'model.safetensors'), metadata={'format': 'pt'})
        ids = list(range(1, 60))
        got, expected = (tenfold.Decoder(one, **QUICK).start().append([ids])[0] for one in (out, floats))
        self.assertLess(abs(got - expected).max() / abs(expected).max(), 1e-5)

    def test_folders_by_texts(self):
        """Those that GPTQ and AWQ make: transformers reads them, and its perplexity and divergence are those that were told."""
        chance = random.Random(4)
        texts = [''.join(chance.choice('abcdefgh .') for _ in range(60)) for _ in range(24)]
        for i, method in enumerate(('gptq', 'awq')):
            with self.subTest(method):
                folder, out = self.path(f'texts{i}'), self.path(f'narrow{i}')
                before = save(folder, ('llama', 'qwen2')[i], SHAPES[(0, 5)[i]], i)
                told = tenfold.quantize_decoder(folder, out, 'int4:g32', method=method, texts=texts).evaluation
                self.compare(out, i)
                after = read(out)
                tokenizer = tenfold.Decoder(folder, **QUICK).tokenizer
                expected = judged(after, before, [tokenizer.encode(one).ids.tolist() for one in texts[1::2]])
                for got, want in zip(figures(told), expected, strict=True):
                    self.assertLess(abs(got / want - 1), 1e-3, (told, expected))

    def compare(self, folder, seed, bound=1e-4):
        model = read(folder)
        decoder = tenfold.Decoder(folder, **QUICK)
        prompt = torch.randint(1, 300, (20,), generator=torch.Generator().manual_seed(seed)).tolist()
        result = decoder.generate(prompt, max_tokens=200, ignore_end=True)
        self.assertEqual(result.ids, greedy(model, prompt, 200))
        with torch.no_grad():
            expected = model(torch.tensor([prompt + result.ids])).logits[0, -1]
        got = torch.from_numpy(decoder.start().append([prompt + result.ids])[0])
        self.assertLess(((got - expected).abs().max() / expected.abs().max()).item(), bound)
        self.assertTrue(decoder.info.weights.startswith('compressed-tensors'))


if __name__ == '__main__':
    unittest.main()
