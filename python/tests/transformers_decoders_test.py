"""tenfold.Decoder beside transformers in f32: 200 greedy tokens of six small models of each kind, and batches with padding.

Torch and transformers have to be installed: script/test torch runs it.
"""
import json
import os
import random
import unittest

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
import tenfold
from case import Case
from chat_templates_case import FAMILIES, Conversations, read
from transformers_decoders_case import HAVE, QUICK, SHAPES, VOCABULARY, figures, greedy, judged, save

if HAVE:
    import torch
    import transformers


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

    def test_perplexity_and_divergence(self):
        chance = random.Random(4)
        texts = [''.join(chance.choice('abcdefgh .') for _ in range(chance.randint(2, 150))) for _ in range(12)]
        for kind in ('gpt2', 'mistral'):
            with self.subTest(kind):
                models = [save(self.path(f'{kind}-{i}'), kind, SHAPES[i], i) for i in range(2)]
                decoder, reference = (tenfold.Decoder(self.path(f'{kind}-{i}'), **QUICK, speculate=20) for i in range(2))
                expected = judged(*models, [decoder.tokenizer.encode(text).ids.tolist() for text in texts])
                got = decoder.evaluate(texts, reference)
                self.assertEqual(got.tokens, expected[0])
                for told, want in zip(figures(got), expected, strict=True):
                    self.assertLess(abs(told / want - 1), 1e-4, (got, expected))

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
