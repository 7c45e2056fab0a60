"""tenfold.Decoder beside transformers in f32: 200 greedy tokens of six small models of each kind, and batches with padding.

Torch and transformers have to be installed: script/test torch runs it.
"""
import importlib.util
import json
import os
import unittest

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
import tenfold
from case import Case
from chat_templates_case import FAMILIES, Conversations, read

HAVE = all(importlib.util.find_spec(name) for name in ('torch', 'transformers', 'tokenizers'))
if HAVE:
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

QUICK = dict(device='cpu', optimization_level=0, plan_cache=False, tf32=False, max_length=256)
VOCABULARY = 300
SHAPES = [dict(width=64, heads=4, shared=4, layers=2, wide=96), dict(width=48, heads=6, shared=2, layers=3, wide=80),
          dict(width=96, heads=8, shared=1, layers=1, wide=128), dict(width=32, heads=2, shared=2, layers=4, wide=200),
          dict(width=80, heads=5, shared=5, layers=2, wide=112), dict(width=128, heads=16, shared=8, layers=2, wide=64)]
LLAMA3 = dict(rope_type='llama3', rope_theta=5e5, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)


def config_of(kind, shape, number):
    if kind == 'gpt2':
        return transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=shape['width'], n_head=shape['heads'],
                                       n_layer=shape['layers'], n_inner=shape['wide'], bos_token_id=0, eos_token_id=0)
    common = dict(vocab_size=VOCABULARY, hidden_size=shape['width'], intermediate_size=shape['wide'], num_hidden_layers=shape['layers'],
                  num_attention_heads=shape['heads'], num_key_value_heads=shape['shared'], max_position_embeddings=256,
                  bos_token_id=0, eos_token_id=0, pad_token_id=0, tie_word_embeddings=number % 2 == 1)
    more = {'llama': dict(rope_parameters=LLAMA3) if number % 3 == 1 else dict(attention_bias=number % 3 == 2),
            'mistral': dict(sliding_window=[16, 100, 7, 31, 32, 33][number]), 'qwen3': dict(head_dim=16)}
    return transformers.AutoConfig.for_model(kind, **common, **more.get(kind, {}))


def shake(model, seed):
    """Weights far apart, so that the largest logit is clear."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape, generator=random) * (1.5 / p.shape[-1] ** 0.5 if p.ndim == 2 and 'emb' not in name else 0.3)
                    + (1 if name.endswith('weight') and ('norm' in name or 'ln_' in name) else 0))


def save(folder, kind, shape, number):
    model = transformers.AutoModelForCausalLM.from_config(config_of(kind, shape, number)).eval()
    shake(model, number)
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.save(os.path.join(folder, 'tokenizer.json'))
    return model


def greedy(model, ids, count, cache=True):
    given = torch.tensor([ids])
    with torch.no_grad():
        made = model.generate(given, attention_mask=torch.ones_like(given), max_new_tokens=count, do_sample=False, eos_token_id=None,
                              pad_token_id=0, use_cache=cache)
    return made[0, len(ids):].tolist()


@unittest.skipUnless(HAVE, 'torch and transformers are not installed')
class Transformers(Case):
    def test_200_greedy_tokens(self):
        for kind in ('gpt2', 'llama', 'mistral', 'qwen2', 'qwen3', 'phi3'):
            for number, shape in enumerate(SHAPES):
                with self.subTest(kind, number=number):
                    folder = self.path(f'{kind}-{number}')
                    model = save(folder, kind, shape, number)
                    prompt = torch.randint(1, VOCABULARY, (5 + 9 * number,), generator=torch.Generator().manual_seed(number)).tolist()
                    decoder = tenfold.Decoder(folder, **QUICK)
                    result = decoder.generate(prompt, max_tokens=200, ignore_end=True)
                    self.assertEqual(result.ids, greedy(model, prompt, 200))
                    with torch.no_grad():
                        expected = model(torch.tensor([prompt + result.ids])).logits[0, -1]
                    got = torch.from_numpy(decoder.start().append([prompt + result.ids])[0])
                    self.assertLess(((got - expected).abs().max() / expected.abs().max()).item(), 1e-4)

    def test_batches_of_prompts_with_their_own_lengths(self):
        for kind in ('gpt2', 'llama'):
            folder = self.path(kind)
            model = save(folder, kind, SHAPES[1], 1)
            decoder = tenfold.Decoder(folder, **QUICK, max_batch=4)
            prompts = [list(range(1, 1 + length)) for length in (3, 30, 1, 64)]
            for prompt, result in zip(prompts, decoder.generate(prompts, max_tokens=60, ignore_end=True)):
                self.assertEqual(result.ids, greedy(model, prompt, 60, cache=False))

    def test_half_precision_of_a_file(self):
        """Weights in 16 bits are computed with in f32."""
        for kind in (torch.float16, torch.bfloat16):
            folder = self.path(str(kind))
            model = save(folder, 'llama', SHAPES[0], 0).to(kind)
            model.save_pretrained(folder)
            prompt = list(range(7, 30))
            self.assertEqual(tenfold.Decoder(folder, **QUICK).generate(prompt, max_tokens=60, ignore_end=True).ids,
                             greedy(model.float(), prompt, 60))

    def test_end_tokens_of_generation_config(self):
        folder = self.path('m')
        save(folder, 'gpt2', SHAPES[0], 0)
        free = tenfold.Decoder(folder, **QUICK).generate([5, 6], max_tokens=50, ignore_end=True).ids
        end = next(one for one in free[3:] if one != 0)
        with open(os.path.join(folder, 'generation_config.json'), 'w') as file:
            json.dump({'eos_token_id': [end]}, file)
        result = tenfold.Decoder(folder, **QUICK).generate([5, 6], max_tokens=50)
        cut = min(free.index(one) for one in (0, end) if one in free)
        self.assertEqual((result.ids, result.finish), (free[:cut], 'end_token'))

    def test_conversations(self):
        """The text of a chat template, through transformers' own function."""
        folder = self.path('chat')
        save(folder, 'gpt2', SHAPES[0], 0)
        with open(os.path.join(folder, 'tokenizer_config.json'), 'w') as file:
            json.dump({'bos_token': '<s>', 'eos_token': '</s>'}, file)
        decoder = tenfold.Decoder(folder, **QUICK)
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, 'tokenizer.json'), bos_token='<s>',
                                                         eos_token='</s>')
        for name, (alternates, system) in FAMILIES.items():
            template, made, equal = read(name + '.jinja'), Conversations(name), 0
            for _ in range(60):
                messages, variables = made.conversation(alternates, system), made.variables()
                given = dict(chat_template=template, tokenize=False, **variables)
                try:
                    expected = tokenizer.apply_chat_template(messages, **given)
                except Exception as error:   # jinja2's, and Python's own
                    self.assertNotIsInstance(error, ImportError)
                    with self.assertRaises(tenfold.Error):
                        decoder.apply_chat_template(messages, **given)
                    continue
                with self.subTest(name, messages=messages, variables=variables):
                    self.assertEqual(decoder.apply_chat_template(messages, **given), expected)
                equal += 1
            self.assertGreater(equal, 20, name)


if __name__ == '__main__':
    unittest.main()
