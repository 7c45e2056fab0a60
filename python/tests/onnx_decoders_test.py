"""tenfold.Decoder of ONNX files in the forms of several exporters, beside ONNX Runtime with copied caches, and NumPy in f64."""
import ctypes
import gc
import os
import re
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

import tenfold
from case import Case
from decoders_case import LAYERS, QUICK, VOCABULARY
from loaded_decoders_case import resident
from onnx_decoders_case import OnnxDecoder, Stepwise, gathered_row, keep_last_row

PROMPT = [1, 2, 4, 6, 7, 8, 3, 30, 12]
FORMS = [('gpt2', 'concat'), ('gpt2', 'sliced'), ('gpt2', 'heads'), ('gpt2', 'scatter'), ('gpt2', 'attention'), ('gpt2', 'own places'),
         ('llama', 'concat'), ('llama', 'scatter'), ('llama', 'attention'), ('llama', 'attention masked'), ('llama', 'attention 24'),
         ('llama', 'grouped'), ('llama', 'grouped direct'), ('llama', 'own places'), ('linear', 'heads'), ('mistral', 'concat'),
         ('mistral', 'attention masked'), ('mistral', 'grouped'), ('mistral', 'own places')]


class Decoders(Case):
    def truth(self, kind, form, **options):
        return OnnxDecoder(self.path(f'{kind} {form}'), kind, form, **options)

    def decoder(self, truth, **options):
        return tenfold.Decoder(truth.folder, **{**QUICK, **options})

    def assert_close(self, got, expected, limit=1e-4):
        self.assertLess(np.abs(got - expected).max() / np.abs(expected).max(), limit)


class Truth(Decoders):
    def test_greedy_tokens_are_onnx_runtimes(self):
        for kind, form in FORMS:
            with self.subTest(kind=kind, form=form):
                truth = self.truth(kind, form)
                decoder = self.decoder(truth, prompt_chunk=16)
                stepwise = Stepwise(truth)
                expected, _ = stepwise.greedy(PROMPT, 200)
                self.assertEqual(decoder.generate(PROMPT, max_tokens=200, ignore_end=True).ids, expected)
                self.assertEqual((decoder.info.architecture, decoder.info.layers, decoder.info.max_length, decoder.info.end_tokens),
                                 (truth.type, LAYERS, 256, [0] if kind == 'gpt2' else [0, 31]))

    def test_speculation_changes_nothing(self):
        for kind, form in (('gpt2', 'concat'), ('llama', 'grouped')):
            truth = self.truth(kind, form)
            plain = self.decoder(truth).generate(PROMPT * 3, max_tokens=60, ignore_end=True).ids
            decoder = self.decoder(truth, speculate=4)
            self.assertEqual(decoder.generate(PROMPT * 3, max_tokens=60, ignore_end=True).ids, plain)
            self.assertGreater(decoder.counts['guessed_tokens'], 0)

    def test_logits_of_prompt_and_steps(self):
        """At lengths around the borders of blocks, and where a piece would end behind the cache."""
        for kind, form in FORMS:
            truth = self.truth(kind, form, places=72)
            ids = np.random.default_rng(1).integers(0, VOCABULARY, 72).tolist()
            expected = truth.logits(ids)
            session = self.decoder(truth, prompt_chunk=32).start()
            borders = [0, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 71, 72]
            for first, last in zip(borders, borders[1:]):
                with self.subTest(kind=kind, form=form, first=first):
                    self.assert_close(session.append([ids[first:last]])[0], expected[last - 1])

    def test_logits_of_the_last_row_alone(self):
        """For one sequence that guesses nothing."""
        def sliced(product):
            ends = {'from': -1, 'to': np.iinfo(np.int64).max, 'axis': 1}
            return [numpy_helper.from_array(np.array([value]), name) for name, value in ends.items()], onnx.helper.make_node(
                'Slice', [product.input[0], *ends], ['last row'])

        for take in (gathered_row, sliced):
            with self.subTest(take.__name__):
                self.check_last_row_alone(take)

    def check_last_row_alone(self, take):
        truth = self.truth('gpt2', 'concat')
        keep_last_row(truth.path('model.onnx'), take)
        session, expected = self.decoder(truth).start(), truth.logits(PROMPT)
        self.assert_close(session.append([PROMPT[:3]])[0], expected[2])
        self.assert_close(session.append([PROMPT[3:]])[0], expected[-1])
        for options in (dict(max_batch=2), dict(speculate=2)):
            with self.assertRaisesRegex(tenfold.Unsupported, 'of the last row alone'):
                self.decoder(truth, **options)

    def test_random_lengths(self):
        """Pieces of random lengths behind caches of random lengths, in batches, truncated and continued."""
        random = np.random.default_rng(5)
        for kind, form in (('mistral', 'concat'), ('llama', 'grouped'), ('gpt2', 'attention')):
            truth = self.truth(kind, form, places=40)
            decoder = self.decoder(truth, prompt_chunk=8, max_batch=3)
            for trial in range(15):
                count = int(random.integers(1, 4))
                session = decoder.start(count)
                lengths = random.integers(1, 38, count)
                session.append([random.integers(0, VOCABULARY, n).tolist() for n in lengths])
                for i, n in enumerate(lengths):
                    session.truncate(i, int(random.integers(0, n + 1)))
                got = session.append([random.integers(0, VOCABULARY, random.integers(1, 40 - len(session.ids(i)) + 1)).tolist()
                                      for i in range(count)])
                for i in range(count):
                    with self.subTest(kind=kind, form=form, trial=trial, sequence=i):
                        self.assert_close(got[i], truth.logits(session.ids(i))[-1])


class Batches(Decoders):
    def test_each_sequence_is_as_alone(self):
        prompts = [PROMPT, [3], [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22], [1, 1], [5, 4, 3, 2, 1]]
        for kind, form in FORMS:
            truth = self.truth(kind, form)
            stepwise = Stepwise(truth)
            decoder = self.decoder(truth, max_batch=3, prompt_chunk=5)
            for prompt, result in zip(prompts, decoder.generate(prompts, max_tokens=30, ignore_end=True)):
                with self.subTest(kind=kind, form=form, prompt=prompt):
                    self.assertEqual(result.ids, stepwise.greedy(prompt, 30)[0])


class Sessions(Decoders):
    def test_prefixes_forks_and_truncation(self):
        for kind, form in (('llama', 'concat'), ('llama', 'grouped')):
            truth = self.truth(kind, form)
            decoder = self.decoder(truth)
            first = decoder.generate(PROMPT, max_tokens=8, ignore_end=True)
            longer = [*PROMPT, *first.ids, 3, 4]
            second = decoder.generate(longer, max_tokens=8, ignore_end=True)
            self.assertEqual((second.ids, second.reused_tokens), (truth.greedy(longer, 8), len(PROMPT) + 7))
            session = decoder.start()
            session.append([[*PROMPT, 9, 9, 9]])
            session.truncate(0, len(PROMPT))
            other = session.fork()
            for one, last in ((session, 3), (other, 5), (session, 7), (other, 2)):
                self.assert_close(one.append([[last]])[0], truth.logits(one.ids())[-1])


    def test_plans_are_kept(self):
        """By the file's content: another file of the same name has another plan."""
        cache = self.path('plans')
        for form in ('concat', 'concat', 'grouped'):   # the second one is loaded
            truth = OnnxDecoder(self.path('same'), 'llama', form)
            decoder = self.decoder(truth, plan_cache=cache)
            self.assertEqual(decoder.generate(PROMPT, max_tokens=20, ignore_end=True).ids, truth.greedy(PROMPT, 20))
            self.assertEqual(len([name for name in os.listdir(cache) if 'plan' in name]), 1 + (form == 'grouped'))

    def test_rounded_products(self):
        """bf16 and fixed-point weights of 16 bits round products; the cache stays f32."""
        for options, limit in ((dict(bf16=True, tf32=True), 0.1), (dict(tf32=True), 1e-2)):
            truth = self.truth('llama', 'concat', places=64)
            ids = np.random.default_rng(3).integers(0, VOCABULARY, 64).tolist()
            session = self.decoder(truth, **options).start()
            session.append([ids[:50]])
            for last in range(51, 65):
                self.assert_close(session.append([[ids[last - 1]]])[0], truth.logits(ids[:last])[-1], limit)


class InPlace(Decoders):
    def test_no_step_copies_a_cache(self):
        """What the steps of a plan write at a full cache: rows of the caches themselves, and nothing that is as large as one of them."""
        for kind, form in FORMS:
            with self.subTest(kind=kind, form=form):
                truth = self.truth(kind, form)
                step, piece = self.decoder(truth).engine.inspection().programs
                for one in (one for one in piece.steps if one.op != 'TensorScatter'):   # masks end with the keys; copies would not
                    self.assertEqual([result.dims_text for result in one.outputs if re.search('total.*,', result.dims_text)], [], one.name)
                self.assertNotIn('Attention', [one.op for one in step.steps])   # the reference kernel, which copies
                scatters = [one for one in step.steps if one.op == 'TensorScatter']
                self.assertEqual(len(scatters), 2 * LAYERS)
                for one in scatters:
                    self.assertRegex(one.inputs[0].place + one.outputs[0].place, 'binding.*binding')
                self.assert_no_copies(truth, step)

    def test_a_file_in_f16_needs_no_conversion(self):
        """CPUs compute in f32, and so the cache is."""
        truth = self.truth('llama', 'grouped', half=True)
        decoder = self.decoder(truth, max_batch=2)
        ids = np.random.default_rng(7).integers(0, VOCABULARY, 60).tolist()
        session = decoder.start(2)
        session.append([ids[:40], ids[:3]])
        for last in range(41, 61):
            got = session.append([[ids[last - 1]], [ids[last - 38]]])
            for row, sequence in zip(got, (ids[:last], [*ids[:3], *ids[3:last - 37]])):
                self.assert_close(row, truth.logits(sequence)[-1], 2e-2)
        self.assert_no_copies(truth, self.decoder(truth).engine.inspection().programs[0])

    def test_conversions_are_reported(self):
        truth, said = self.truth('llama', 'concat', half=True, places=64), []
        session = self.decoder(truth, log=lambda severity, text: said.append(text)).start()
        self.assertIn('attention is written out in f16', '\n'.join(said))
        session.append([PROMPT])
        self.assert_close(session.append([[5]])[0], truth.logits([*PROMPT, 5])[-1], 3e-2)

    def test_copies_are_reported(self):
        """A smooth softmax is read as one more key of zeros."""
        def smooth(model):
            for node in model.graph.node:
                if node.op_type == 'GroupQueryAttention':
                    node.attribute.append(onnx.helper.make_attribute('smooth_softmax', 1))

        truth, said = self.truth('llama', 'grouped', change=smooth), []
        decoder = self.decoder(truth, log=lambda severity, text: said.append(text))
        self.assertRegex('\n'.join(said), r'node .* \(Pad\).* copies the keys and values that it reads in each step')
        self.assertEqual(decoder.generate(PROMPT, max_tokens=40, ignore_end=True).ids, Stepwise(truth).greedy(PROMPT, 40)[0])

    def assert_no_copies(self, truth, program):
        largest = max((self.written(one), one.op, one.name) for one in program.steps if one.op != 'TensorScatter')
        self.assertLess(largest[0], truth.places * truth.shared * truth.size * 4 // 4, largest)

    def written(self, step):
        return sum(int(np.prod([256 if extent < 0 else extent for extent in one.shape])) * 4 for one in step.outputs)

    def test_the_cache_is_there_once(self):
        """Two places for a state that is copied from one to the other would take twice the memory."""
        for kind, form in (('llama', 'concat'), ('llama', 'attention'), ('llama', 'grouped')):
            truth = self.truth(kind, form, places=40000)
            decoder = self.decoder(truth, max_length=40000, prompt_chunk=1)   # longer pieces need room for their masks
            decoder.generate([1], max_tokens=2, ignore_end=True)   # so that everything else is there
            session = None
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)   # or the session may lie in memory that was freed and is resident still
            before = resident()
            session = decoder.start()
            session.append([[1]])
            grown = resident() - before
            self.assertEqual(decoder.info.cache_bytes, 2 * LAYERS * 40000 * truth.shared * truth.size * 4)
            self.assertLess(grown, 1.5 * decoder.info.cache_bytes, (kind, form))
            self.assertGreater(grown, 0.5 * decoder.info.cache_bytes, (kind, form))   # else this measures nothing


if __name__ == '__main__':
    unittest.main()
