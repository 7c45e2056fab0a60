"""The random test of caches: sessions of random shapes, their tokens in pieces, at random lengths, forks and cuts."""
import os

import numpy as np
from decoders_case import QUICK, VOCABULARY, RandomDecoder

import tenfold

LENGTHS = int(os.environ.get('TENFOLD_CACHE_LENGTHS', '400'))


class Shapes:
    keywords = {}   # of the decoder
    lengths = LENGTHS

    def truth(self, at, kind):
        return RandomDecoder(self.path(f'm{at}'), kind, seed=at)

    def check(self, rows, expected, what):
        for row, want in zip(rows, expected):
            self.assertLess(np.abs(row - want).max() / np.abs(want).max(), 3e-5, what)

    def kind(self, random):
        shared = int(random.integers(1, 5))
        kind = dict(model_type=str(random.choice(['llama', 'mistral', 'qwen2', 'qwen3', 'phi3'])), shared=shared,
                    heads=shared * int(random.integers(1, 5)), head_dim=2 * int(random.integers(1, 12)), places=128)
        if kind['model_type'] == 'mistral':
            kind['sliding_window'] = int(random.integers(1, 30))
        if kind['model_type'] == 'phi3':
            kind['head_dim'] *= 2
            kind['partial_rotary_factor'] = 0.5
        if random.random() < 0.2:
            kind = dict(model_type='gpt2', n_embd=24, n_head=int(random.choice([1, 2, 3, 4, 6])), n_layer=3, n_positions=64)
        return kind

    def compared(self, random, truth, decoder, left):
        """One session: tokens in pieces, until its sequences are full or enough was compared. Returns how many lengths were."""
        capacity, batch = decoder.info.max_length, decoder.info.max_batch
        session, done = decoder.start(batch), 0
        whole = [random.integers(0, VOCABULARY, capacity).tolist() for _ in range(batch)]
        expected = [truth.logits(ids) for ids in whole]
        while done < left:
            have = [len(session.ids(i)) for i in range(batch)]
            if min(have) == capacity:
                break
            if random.random() < 0.1:
                session = session.fork()
            if random.random() < 0.15:
                cut = int(random.integers(batch))
                session.truncate(cut, int(random.integers(have[cut] + 1)))
                continue
            each = decoder.info.speculate > 0 and random.random() < 0.3
            longest = decoder.info.speculate + 1 if each else int(random.choice([1, 1, 1, 3, capacity]))
            sizes = [int(random.integers(0, min(longest, capacity - n) + 1)) for n in have]
            pieces = [whole[i][n:n + size] for i, (n, size) in enumerate(zip(have, sizes))]
            if each and any(sizes):
                rows = session.append_each(pieces)
                wanted = [expected[i][n + t] for i, (n, size) in enumerate(zip(have, sizes)) for t in range(size)]
            else:
                rows = [row for row, size in zip(session.append(pieces), sizes) if size]
                wanted = [expected[i][n + size - 1] for i, (n, size) in enumerate(zip(have, sizes)) if size]
            self.assertEqual(len(rows), len(wanted))
            self.check(rows, wanted, (have, sizes, each))
            done += len(wanted)
        return done

    def test_random_shapes_and_lengths(self):
        random, done, shapes = np.random.default_rng(11), 0, 0
        while done < self.lengths:
            kind = self.kind(random)
            truth = self.truth(shapes, kind)
            places = kind.get('places', 64)
            options = dict(max_length=int(random.integers(1, places + 1)), max_batch=int(random.integers(1, 4)),
                           prompt_chunk=int(random.choice([1, 2, 7, 16, 512])), speculate=int(random.choice([0, 0, 1, 4])))
            with self.subTest(kind, **options):
                decoder = tenfold.Decoder(truth.folder, **QUICK, **options, **self.keywords)
                done += max(1, self.compared(random, truth, decoder, min(self.lengths - done, 60)))
            shapes += 1
        self.assertGreater(shapes, self.lengths // 60)
