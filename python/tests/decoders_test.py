"""tenfold.Decoder beside a restatement in NumPy in f64 that has no cache: tokens, logits, batches, pieces, sessions, sampling, faults."""
import json
import os
import threading
import unittest

import numpy as np

import tenfold
from decoders_case import KINDS, PLACES, QUICK, VOCABULARY, WORDS, RandomDecoder
from loaded_decoders_case import PROMPT, Decoders, resident


class Truth(Decoders):
    def test_greedy_tokens_of_every_kind(self):
        for kind in KINDS:
            with self.subTest(kind):
                decoder = self.decoder(kind)
                result = decoder.generate(PROMPT, max_tokens=40, ignore_end=True)
                self.assertEqual(result.ids, self.truth.greedy(PROMPT, 40))
                self.assertEqual((result.finish, result.prompt_tokens), ('max_tokens', len(PROMPT)))

    def test_logits_of_prompt_and_steps(self):
        for kind in ('gpt2', 'llama', 'mistral'):
            decoder = self.decoder(kind)
            ids = np.random.default_rng(1).integers(0, VOCABULARY, PLACES).tolist()
            expected = self.truth.logits(ids)
            session = decoder.start()
            for first, last in ((0, 9), (9, 10), (10, 11), (11, 40), (40, PLACES)):
                with self.subTest(kind, first=first):
                    got = session.append([ids[first:last]])[0]
                    self.assertLess(np.abs(got - expected[last - 1]).max() / np.abs(expected[last - 1]).max(), 1e-5)
            self.assertEqual(session.ids(), ids)

    def test_logits_in_bf16(self):
        """With a cache of bf16, whether or not the machine multiplies in it."""
        for kind in ('gpt2', 'llama', 'qwen3'):
            decoder = self.decoder(kind, tf32=True, bf16=True)
            ids = np.random.default_rng(3).integers(0, VOCABULARY, PLACES).tolist()
            session = decoder.start()
            session.append([ids[:50]])
            for last in range(51, PLACES + 1):
                got, expected = session.append([[ids[last - 1]]])[0], self.truth.logits(ids[:last])[-1]
                self.assertLess(np.abs(got - expected).max() / np.abs(expected).max(), 0.1, (kind, last))
            self.assertEqual(decoder.info.cache_bytes * 2, self.decoder(kind).info.cache_bytes)

    def test_pieces_of_a_prompt(self):
        for chunk in (1, 2, 5, 64):
            decoder = self.decoder('mistral', prompt_chunk=chunk)
            ids = np.random.default_rng(2).integers(0, VOCABULARY, PLACES).tolist()
            got = decoder.start().append([ids])[0]
            self.assertLess(np.abs(got - self.truth.logits(ids)[-1]).max() / np.abs(got).max(), 1e-5, chunk)

    def test_lengths_at_the_end_of_the_cache(self):
        """A piece that would end behind the cache computes some tokens again."""
        decoder = self.decoder('llama', max_batch=2, prompt_chunk=16)
        random = np.random.default_rng(4)
        for length in range(PLACES - 17, PLACES + 1):
            long, short = random.integers(0, VOCABULARY, length).tolist(), random.integers(0, VOCABULARY, 3).tolist()
            session = decoder.start(2)
            session.append([long[:-1], []])
            got = session.append([long[-1:], short])
            for row, ids in zip(got, (long, short)):
                expected = self.truth.logits(ids)[-1]
                self.assertLess(np.abs(row - expected).max() / np.abs(expected).max(), 1e-5, (length, len(ids)))


class Batches(Decoders):
    def test_each_sequence_is_as_alone(self):
        prompts = [PROMPT, [3], [9, 10, 11, 12, 13, 14, 15, 16, 17], [1, 1], [5, 4, 3, 2, 1]]
        for kind in ('gpt2', 'mistral'):
            decoder = self.decoder(kind, max_batch=3)   # two runs: three and two
            for prompt, result in zip(prompts, decoder.generate(prompts, max_tokens=20, ignore_end=True)):
                with self.subTest(kind, prompt=prompt):
                    self.assertEqual(result.ids, self.truth.greedy(prompt, 20))

    def test_sequences_end_apart(self):
        decoder = self.decoder('gpt2', max_batch=2)
        prompts = [[int(i)] * int(n) for i, n in np.random.default_rng(0).integers(1, 20, (12, 2))]
        results = decoder.generate(prompts, max_tokens=40)
        ends = 0
        for prompt, result in zip(prompts, results):
            expected = self.truth.greedy(prompt, 40)
            ends += result.finish == 'end_token'
            cut = expected.index(0) if 0 in expected else 40
            self.assertEqual((result.ids, result.finish), (expected[:cut], 'end_token' if cut < 40 else 'max_tokens'))
        self.assertTrue(0 < ends < len(prompts), ends)   # both are seen

    def test_the_cache_is_full(self):
        decoder = self.decoder('llama', max_length=16)
        result = decoder.generate(PROMPT, max_tokens=100, ignore_end=True)
        self.assertEqual((result.ids, result.finish), (self.truth.greedy(PROMPT, 10), 'max_length'))
        full = decoder.generate([1] * 16, max_tokens=5, ignore_end=True)
        self.assertEqual((full.ids, full.finish), (self.truth.greedy([1] * 16, 1), 'max_length'))


class Sessions(Decoders):
    def test_a_prefix_is_computed_once(self):
        decoder = self.decoder()
        first = decoder.generate(PROMPT, max_tokens=8, ignore_end=True)
        longer = [*PROMPT, *first.ids, 3, 4]
        second = decoder.generate(longer, max_tokens=8, ignore_end=True)
        self.assertEqual(second.ids, self.truth.greedy(longer, 8))
        self.assertEqual((first.reused_tokens, second.reused_tokens), (0, len(PROMPT) + 7))   # the last new token was never fed
        again = decoder.generate(PROMPT, max_tokens=8, ignore_end=True)
        self.assertEqual((again.ids, again.reused_tokens), (first.ids, len(PROMPT) - 1))

    def test_truncate_and_fork(self):
        decoder = self.decoder('gpt2')
        session = decoder.start()
        session.append([[*PROMPT, 9, 9, 9]])
        session.truncate(0, len(PROMPT))
        other = session.fork()
        for one, last in ((session, 3), (other, 5), (session, 7), (other, 2)):
            got = one.append([[last]])[0]
            expected = self.truth.logits(one.ids())[-1]
            self.assertLess(np.abs(got - expected).max() / np.abs(expected).max(), 1e-5)
        self.assertEqual((session.ids(), other.ids()), ([*PROMPT, 3, 7], [*PROMPT, 5, 2]))

    def test_side_by_side(self):
        decoder = self.decoder()
        prompts = [[i, 2 * i, 3] for i in range(1, 9)]
        results = [None] * len(prompts)

        def work(i):
            results[i] = decoder.generate(prompts[i], max_tokens=15, ignore_end=True).ids

        threads = [threading.Thread(target=work, args=[i]) for i in range(len(prompts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [self.truth.greedy(prompt, 15) for prompt in prompts])

    def test_a_cancelled_call_leaves_the_decoder_as_it_was(self):
        decoder = self.decoder()
        token = tenfold.CancelToken()
        seen = []

        def told(sequence, id, text):
            seen.append(id)
            if len(seen) == 3:
                token.cancel()

        cut = decoder.generate(PROMPT, max_tokens=20, ignore_end=True, on_token=told, token=token)
        expected = self.truth.greedy(PROMPT, 20)
        self.assertEqual((cut.ids, cut.finish), (expected[:3], 'cancelled'))
        self.assertEqual(decoder.generate(PROMPT, max_tokens=20, ignore_end=True).ids, expected)
        self.assertEqual(decoder.generate(PROMPT, max_tokens=20, timeout=0.0).finish, 'cancelled')


class Sampling(Decoders):
    def draws(self, decoder, count=600, **sampling):
        """How often each token is drawn as the first new one."""
        counts = np.zeros(VOCABULARY)
        for seed in range(count):
            counts[decoder.generate(PROMPT, max_tokens=1, ignore_end=True, seed=seed, **sampling).ids[0]] += 1
        return counts / count

    def shares(self, temperature):
        logits = self.truth.logits(PROMPT)[-1] / temperature
        powers = np.exp(logits - logits.max())
        return powers / powers.sum()

    def test_frequencies_are_probabilities(self):
        decoder = self.decoder('gpt2')
        scale = np.abs(self.truth.logits(PROMPT)[-1]).max() / 3   # so that several tokens have a chance
        shares = self.shares(scale)
        order = np.argsort(-shares)
        cases = {'all': ({}, order), 'top_k': (dict(top_k=4), order[:4]),
                 'top_p': (dict(top_p=0.6), order[:int((np.cumsum(shares[order]) < 0.6).sum()) + 1]),
                 'min_p': (dict(min_p=0.4), order[shares[order] >= 0.4 * shares.max()])}
        for name, (sampling, kept) in cases.items():
            with self.subTest(name):
                expected = np.zeros(VOCABULARY)
                expected[kept] = shares[kept] / shares[kept].sum()
                got = self.draws(decoder, temperature=scale, **sampling)
                self.assertEqual(got[expected == 0].sum(), 0)
                self.assertLess(np.abs(got - expected).max(), 5 * np.sqrt(0.25 / 600))

    def test_seeds(self):
        decoder = self.decoder('gpt2', max_batch=2)
        a, b, c = (decoder.generate(PROMPT, max_tokens=12, temperature=5.0, seed=seed).ids for seed in (1, 1, 2))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        pair = decoder.generate([PROMPT, PROMPT], max_tokens=12, temperature=5.0, seed=1)
        self.assertEqual([one.ids for one in pair], [a, c])

    def test_repetition_penalty(self):
        decoder = self.decoder('gpt2')
        result = decoder.generate(PROMPT, max_tokens=12, repetition_penalty=1.3, ignore_end=True)
        ids = list(PROMPT)
        for _ in range(12):
            logits = self.truth.logits(ids)[-1]
            seen = sorted(set(ids))
            logits[seen] = np.where(logits[seen] > 0, logits[seen] / 1.3, logits[seen] * 1.3)
            ids.append(int(logits.argmax()))
        self.assertEqual(result.ids, ids[len(PROMPT):])

    def test_logits_may_be_changed(self):
        decoder = self.decoder('gpt2')
        kept = []

        def only_nouns(sequence, ids, logits):
            kept.append((list(ids), logits))
            logits[[i for i in range(VOCABULARY) if i not in (2, 3, 8)]] = -np.inf

        result = decoder.generate(PROMPT, max_tokens=9, on_logits=only_nouns)
        self.assertEqual(set(result.ids) - {2, 3, 8}, set())
        self.assertEqual([ids for ids, _ in kept], [PROMPT + result.ids[:i] for i in range(9)])
        self.assertTrue(all(np.isinf(logits).sum() == VOCABULARY - 3 for _, logits in kept))



class Text(Decoders):
    def test_words_streams_and_stops(self):
        decoder = self.decoder('gpt2')

        def forced(words):
            """A function that makes the decoder say these words."""
            left = [WORDS.index(word) for word in words.split()]

            def change(sequence, ids, logits):
                logits[:] = -np.inf
                logits[left.pop(0)] = 0
            return change

        said = 'the cat sat on the mat . then it slept'
        result = decoder.generate('yes', max_tokens=10, on_logits=forced(said))
        self.assertEqual((result.text.strip(), result.finish), (said, 'max_tokens'))
        pieces = list(decoder.stream('yes', max_tokens=10, on_logits=forced(said)))
        self.assertEqual(''.join(pieces), result.text)
        self.assertGreater(len(pieces), 5)
        told = []
        stopped = decoder.generate('yes', max_tokens=10, on_logits=forced(said), stop=['mat . then', 'zebra', 'the mat was'],
                                   on_token=lambda sequence, id, text: told.append(text))
        self.assertEqual((stopped.text, stopped.finish), (result.text[:result.text.index('mat .')], 'stop_text'))
        self.assertEqual(''.join(told), stopped.text)
        held = []
        decoder.generate('yes', max_tokens=6, on_logits=forced(said), stop='the mat was', on_token=lambda *a: held.append(a))
        self.assertEqual(held[-1][1], -1)   # 'the mat' might have become a stop text
        self.assertEqual(''.join(text for _, _, text in held).strip(), 'the cat sat on the mat')
        two = decoder.generate('yes', max_tokens=10, on_logits=forced(said), on_token=lambda sequence, id, text: id != WORDS.index('cat'))
        self.assertEqual((two.text.strip(), two.finish), ('the cat', 'callback'))

    def test_errors_of_functions_come_through(self):
        decoder = self.decoder('gpt2')

        def told(*arguments):
            raise KeyError('mine')

        with self.assertRaisesRegex(KeyError, 'mine'):
            decoder.generate(PROMPT, on_token=told)
        with self.assertRaisesRegex(KeyError, 'mine'):
            list(decoder.stream(PROMPT, on_logits=told))
        self.assertEqual(decoder.generate(PROMPT, max_tokens=5, ignore_end=True).ids, self.truth.greedy(PROMPT, 5))


class Faults(Decoders):
    def refused(self, error, pattern, call):
        with self.assertRaisesRegex(error, pattern) as raised:
            call()
        self.assertNotIn('\n', str(raised.exception).strip())

    def test_calls(self):
        decoder = self.decoder('gpt2', max_batch=2)
        for pattern, prompt, keywords in (
                ('prompt 0 has no tokens', [[]], {}), ('there is no prompt', [], {}), ('prompt 0 has no tokens', '', {}),
                ('prompt 1 has the token 32; the model has tokens 0 to 31', [[1], [32]], {}), ('the token -1', [-1], {}),
                ('prompt 0 has 65 tokens, but max_length is 64', [1] * 65, {}), ('max_tokens is -1', [1], {'max_tokens': -1}),
                ('temperature is -1', [1], {'temperature': -1.0}), ('top_p is 0', [1], {'top_p': 0.0}), ('top_k is -2', [1], {'top_k': -2}),
                ('min_p is 2', [1], {'min_p': 2.0}), ('repetition_penalty is 0', [1], {'repetition_penalty': 0.0}),
                ('temperature is nan', [1], {'temperature': float('nan')}), ('a stop text is empty', [1], {'stop': ['']})):
            with self.subTest(pattern):
                self.refused(tenfold.InvalidArgument, pattern, lambda p=prompt, k=keywords: decoder.generate(p, **k))
        session = decoder.start(2)
        self.refused(tenfold.InvalidArgument, '1 lists of tokens for 2 sequences', lambda: session.append([[1]]))
        self.refused(tenfold.InvalidArgument, 'sequence 1 has the token 99', lambda: session.append([[1], [99]]))
        self.refused(tenfold.InvalidArgument, 'sequence 0 would have 65 tokens, but max_length is 64',
                     lambda: session.append([[1] * 65, []]))
        self.refused(tenfold.InvalidArgument, 'a sequence of 0 tokens cannot be truncated to 1', lambda: session.truncate(0, 1))
        self.refused(tenfold.InvalidArgument, 'there is no sequence 2', lambda: session.ids(2))
        self.refused(tenfold.InvalidArgument, '3 sequences at once, but max_batch is 2', lambda: decoder.start(3))
        self.assertTrue((session.append([[], []]) == 0).all())
        self.assertEqual(decoder.generate([1], max_tokens=0), ('', [], 'max_tokens', 1, 0))

    def test_a_cache_that_no_machine_has(self):
        truth = RandomDecoder(self.path('m'), 'llama')
        truth.save('config.json', {**truth.config, 'head_dim': 1 << 20, 'num_attention_heads': 1 << 18, 'num_key_value_heads': 1 << 18,
                                   'max_position_embeddings': 1 << 30})
        self.refused(tenfold.InvalidArgument, 'take more than 2\\^40 bytes; set max_length',
                     lambda: tenfold.Decoder(truth.folder, **QUICK, max_length=1 << 30))

    def test_folders(self):
        truth = RandomDecoder(self.path('m'), 'llama')

        def load(**options):
            tenfold.Decoder(truth.folder, **{**QUICK, **options}).prepare()

        for pattern, error, change in (
                (r"num_attention_heads is no multiple of num_key_value_heads", tenfold.InvalidModel, dict(num_key_value_heads=4)),
                ('config.json.hidden_size: a whole number', tenfold.InvalidModel, dict(hidden_size='wide')),
                (r"model_type 'mamba' are not built .*gpt2, llama", tenfold.Unsupported, dict(model_type='mamba')),
                (r"the rope_type 'yarn' is not supported; default, linear and llama3 are", tenfold.Unsupported,
                 dict(rope_parameters={'rope_type': 'yarn'})),
                (r"'factor' is missing or not above 0", tenfold.InvalidModel, dict(rope_parameters={'rope_type': 'linear'})),
                (r"the tensor 'model.layers.0.self_attn.q_proj.weight' .* by config.json its shape is", tenfold.InvalidModel,
                 dict(head_dim=6)),
                (r"have no tensor 'model.layers.3.", tenfold.InvalidModel, dict(num_hidden_layers=4)),
                (r"the activation 'softmax' is not supported", tenfold.Unsupported, dict(hidden_act='softmax')),
                (r"quant_method 'fp8' describes are not read", tenfold.Unsupported, dict(quantization_config={'quant_method': 'fp8'})),
                (r"eos_token_id is neither a token's id nor a list", tenfold.InvalidModel, dict(eos_token_id='end'))):
            with self.subTest(pattern):
                truth.save('config.json', {**truth.config, **change})
                self.refused(error, pattern, load)
        truth.save('config.json', truth.config)
        self.refused(tenfold.InvalidArgument, 'max_length is 65, but the model has places for 64', lambda: load(max_length=65))
        self.refused(tenfold.InvalidArgument, 'max_batch is 0', lambda: load(max_batch=0))
        self.refused(TypeError, 'optimization_levle', lambda: load(optimization_levle=1))
        with open(truth.path('model.safetensors'), 'r+b') as file:
            file.truncate(os.path.getsize(truth.path('model.safetensors')) - 8)
        self.refused(tenfold.InvalidModel, 'model.safetensors', load)
        os.remove(truth.path('model.safetensors'))
        self.refused(tenfold.FileError, 'has no model.safetensors', load)
        self.refused(tenfold.FileError, 'is no folder', lambda: tenfold.Decoder(self.path('none')))

    def test_a_tokenizer_of_another_model(self):
        truth = RandomDecoder(self.path('m'), 'gpt2')
        with open(truth.path('tokenizer.json')) as file:
            tokenizer = json.load(file)
        tokenizer['model']['vocab'].update({f'w{i}': i for i in range(len(WORDS), 50)})
        truth.save('tokenizer.json', tokenizer)
        self.refused(tenfold.InvalidModel, 'the tokenizer has 50 tokens, but the weights have embeddings for 32',
                     lambda: tenfold.Decoder(truth.folder, **QUICK))


class Plan(Decoders):
    def test_the_cache_has_one_place(self):
        """What a run reads and what it writes is the same memory: nothing is copied, and nothing is there twice."""
        truth = RandomDecoder(self.path('m'), 'llama')
        truth.save('config.json', {**truth.config, 'max_position_embeddings': 1 << 18})
        decoder = tenfold.Decoder(truth.folder, **QUICK, max_length=1 << 18, prompt_chunk=8)
        decoder.prepare()
        before = resident()
        session = decoder.start()
        for last in (2, 3, 4):
            got = session.append([[*PROMPT, last]])[0]
        expected = truth.logits(session.ids())[-1]
        self.assertLess(np.abs(got - expected).max() / np.abs(expected).max(), 1e-5)
        size = decoder.info.cache_bytes
        self.assertGreater(size, 40 << 20)
        self.assertLess(resident() - before, 1.5 * size)
        self.assertNotIn('Transpose  kernel', decoder.engine.inspect())   # new rows go to their places as views

    def test_weights_that_are_replaced_before_their_plan_is_kept(self):
        """Else the plan of the old ones would be found by the new ones' hash."""
        first, second = (RandomDecoder(self.path(name), 'llama', seed=seed) for name, seed in (('first', 1), ('second', 2)))
        decoder = tenfold.Decoder(first.folder, **{**QUICK, 'plan_cache': self.path('plans')})
        os.replace(second.path('model.safetensors'), first.path('model.safetensors'))
        with self.assertRaisesRegex(tenfold.FileError, 'model.safetensors. was replaced since it was opened; load the model again'):
            decoder.prepare()

    def test_plans_are_kept(self):
        truth = RandomDecoder(self.path('m'), 'gpt2')
        options = {**QUICK, 'plan_cache': self.path('plans')}
        first = tenfold.Decoder(truth.folder, **options).generate(PROMPT, max_tokens=9, ignore_end=True)
        files = os.listdir(self.path('plans'))
        second = tenfold.Decoder(truth.folder, **options).generate(PROMPT, max_tokens=9, ignore_end=True)
        self.assertEqual((second.ids, os.listdir(self.path('plans'))), (first.ids, files))
        self.assertEqual(len([name for name in files if name.endswith('.plan')]), 1)


if __name__ == '__main__':
    unittest.main()
