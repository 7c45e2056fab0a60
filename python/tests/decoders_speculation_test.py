"""tenfold.Decoder with guesses by the text's own n-grams (speculate): the same text in fewer steps."""
import unittest

import numpy as np
from decoders_case import KINDS, VOCABULARY
from loaded_decoders_case import Decoders

import tenfold


class Speculation(Decoders):
    """Guesses by n-grams change how many steps there are, and nothing else. Logits of a row may differ in their last bits by how many
    rows a run has; these models' largest logits differ by more."""

    def test_the_text_is_the_same(self):
        random = np.random.default_rng(5)
        guessed = accepted = 0
        for kind in KINDS:
            for speculate in (1, 4, 9):
                decoder = self.decoder(kind, speculate=speculate, max_batch=3)
                for _ in range(4):
                    piece = random.integers(0, VOCABULARY, random.integers(2, 6)).tolist()
                    prompts = [(piece * 9)[:random.integers(3, 20)], random.integers(0, VOCABULARY, 4).tolist(), piece]
                    results = decoder.generate(prompts, max_tokens=40, ignore_end=True)
                    for prompt, result in zip(prompts, results):
                        with self.subTest(kind, speculate=speculate, prompt=prompt):
                            self.assertEqual(result.ids, self.truth.greedy(prompt, 40))
                guessed, accepted = guessed + decoder.counts['guessed_tokens'], accepted + decoder.counts['accepted_tokens']
        self.assertTrue(200 < accepted < guessed, (accepted, guessed))   # both are seen: guesses that are right, and others

    def test_in_bf16(self):
        for kind in ('gpt2', 'llama', 'qwen3'):
            with self.subTest(kind):
                decoder = self.decoder(kind, tf32=True, bf16=True, speculate=4)
                prompt = [1, 2, 3, 4] * 4
                plain, quick = (decoder.generate(prompt, max_tokens=40, ignore_end=True, speculate=count) for count in (0, 4))
                # From the first token on that differs, both are right: its logits are equal within bf16.
                same = next((i for i, pair in enumerate(zip(plain.ids, quick.ids)) if pair[0] != pair[1]), 40)
                if same < 40:
                    logits = self.truth.logits(prompt + plain.ids[:same])[-1]
                    self.assertLess(abs(logits[plain.ids[same]] - logits[quick.ids[same]]), 0.1 * np.abs(logits).max())

    def test_sampling_penalties_and_callbacks(self):
        decoder = self.decoder('gpt2', speculate=6)
        prompt = [3, 4, 5, 6] * 3
        for keywords in (dict(temperature=3.0, seed=3), dict(temperature=2.0, top_k=3, seed=4), dict(repetition_penalty=1.2),
                         dict(max_tokens=7), dict(on_token=lambda sequence, id, text: id != 5),
                         dict(on_logits=lambda sequence, ids, logits: logits[7:].fill(-9))):
            with self.subTest(keywords):
                plain, quick = (decoder.generate(prompt, **{'max_tokens': 40, **keywords}, speculate=count) for count in (0, None))
                self.assertEqual((quick.ids, quick.text, quick.finish), (plain.ids, plain.text, plain.finish))

    def test_fewer_steps_and_a_whole_cache(self):
        decoder = self.decoder('llama', speculate=5, max_length=40)
        forced = [1, 2, 3, 4, 5, 6] * 9

        def say(sequence, ids, logits):
            logits[:] = -1
            logits[forced[len(ids)]] = 1

        result = decoder.generate(forced[:12], max_tokens=100, ignore_end=True, on_logits=say)
        self.assertEqual((result.ids, result.finish), (forced[12:40], 'max_length'))
        counts = decoder.counts
        self.assertEqual((counts['steps'], counts['accepted_tokens']), (5, 22))   # 28 tokens: one of the prompt, 27 of five steps
        session = decoder.start()
        session.append([forced[:38]])
        rows = session.append_each([[3, 4]])
        for i, row in enumerate(rows):
            expected = self.truth.logits(forced[:38] + [3, 4][:i + 1])[-1]
            self.assertLess(np.abs(row - expected).max() / np.abs(expected).max(), 1e-5)
        with self.assertRaisesRegex(tenfold.InvalidArgument, '7 tokens of one sequence, but speculate is 5'):
            decoder.start().append_each([[1] * 7])
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'speculate is 6, but the decoder was loaded with 5'):
            decoder.generate([1], speculate=6)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'speculate is -2, 0 to 64'):
            self.decoder('llama', speculate=-2)

    def test_rows_of_some_sequences(self):
        """Of a decoder that guesses nothing, too."""
        for speculate in (0, 3):
            session = self.decoder('llama', max_batch=2, speculate=speculate).start(2)
            session.append([[1, 2], [3]])
            rows = session.append_each([[], [4]])
            expected = self.truth.logits([3, 4])[-1]
            self.assertEqual(rows.shape[0], 1)
            self.assertLess(np.abs(rows[0] - expected).max() / np.abs(expected).max(), 1e-5)

    def test_a_cancelled_step(self):
        decoder = self.decoder('gpt2', speculate=4)
        prompt = [1, 2, 3] * 4
        whole = decoder.generate(prompt, max_tokens=30, ignore_end=True).ids
        for at in range(1, 12):
            token, seen = tenfold.CancelToken(), []

            def told(sequence, id, text, token=token, seen=seen, at=at):
                seen.append(id)
                if len(seen) == at:
                    token.cancel()

            cut = decoder.generate(prompt, max_tokens=30, ignore_end=True, token=token, on_token=told)
            self.assertEqual(cut.ids, whole[:len(cut.ids)])
            self.assertGreaterEqual(len(cut.ids), at)
            self.assertEqual(decoder.generate(prompt, max_tokens=30, ignore_end=True).ids, whole)


if __name__ == '__main__':
    unittest.main()
