"""Every argument of tenfold.embeddings' classes has an effect, or is refused by its name, or says once that it has none."""
import inspect
import unittest
from unittest import mock

import numpy as np

from case import Case
from embeddings_case import RandomEncoder
from tenfold import errors
from tenfold.embeddings import CrossEncoder, SentenceTransformer, _options

QUICK = dict(device='cpu', plan_cache=False)
FAST = dict(optimization_level=0, threads=1)
# What has an effect; each is tested where its subject is (embeddings_test, embeddings_faults_test, sentence_transformers_test).
EFFECT = set('''model_name_or_path device prompts default_prompt_name cache_folder revision model_kwargs similarity_fn_name truncate_dim
    plan_cache max_seq_length batch_tokens num_labels max_length activation_fn inputs prompt_name prompt show_progress_bar output_value
    precision convert_to_numpy convert_to_tensor normalize_embeddings pool apply_softmax query documents top_k return_documents'''.split())
REFUSED = dict(modules=['a'], processor_kwargs={'a': 1}, config_kwargs={'a': 1}, keep_in_fp32_modules=['a'])
TOLD = dict(backend='onnx', trust_remote_code=True, local_files_only=False, token='t', use_auth_token='t', model_card_data={'a': 1},
            batch_size=7, chunk_size=3)
METHODS = {SentenceTransformer: ('encode', 'encode_query', 'encode_document'), CrossEncoder: ('predict', 'rank')}


def names(function):
    return set(inspect.signature(inspect.unwrap(function)).parameters) - {'self'}


class Effects(Case):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(_options, '_told', set())
        patch.start()
        self.addCleanup(patch.stop)
        self.folders = {SentenceTransformer: RandomEncoder(self.path('encoder'), 'bert').folder,
                        CrossEncoder: RandomEncoder(self.path('ranker'), 'bert', 1).folder}

    def made(self, kind, model_kwargs=None, **arguments):
        return kind(self.folders[kind], **QUICK, model_kwargs={**FAST, **(model_kwargs or {})}, **arguments)

    def called(self, model, method, **arguments):
        given = {'predict': [[('fine', 'red')]], 'rank': ['fine', ['red', 'blue']]}.get(method, [['fine']])
        return getattr(model, method)(*given, **arguments)

    def test_each_argument_is_one_of_the_three(self):
        for kind, methods in METHODS.items():
            for function in (kind.__init__, *(getattr(kind, method) for method in methods)):
                self.assertEqual(names(function) - EFFECT - set(REFUSED) - set(TOLD), set(), function.__qualname__)

    def told_once(self, name, value, call):
        with self.assertLogs('tenfold', 'WARNING') as reported:
            call()
        lines = [line for line in reported.output if f'{name}={value!r} has no effect: ' in line]
        self.assertEqual(len(lines), 1, reported.output)
        with self.assertNoLogs('tenfold', 'WARNING'):
            call()

    def test_those_without_an_effect_say_so(self):
        for kind, methods in METHODS.items():
            for name, value in TOLD.items():
                with self.subTest(f'{kind.__name__}({name})'):
                    if name in names(kind.__init__):
                        _options._told.clear()
                        self.told_once(name, value, lambda: self.made(kind, **{name: value}))
            model = self.made(kind)
            for method in methods:
                for name in names(getattr(kind, method)) & set(TOLD):
                    with self.subTest(f'{kind.__name__}.{method}({name})'):
                        _options._told.clear()
                        self.told_once(name, TOLD[name], lambda: self.called(model, method, **{name: TOLD[name]}))

    def test_attention_says_so(self):
        self.told_once('attn_implementation', 'sdpa',
                       lambda: self.made(SentenceTransformer, {'attn_implementation': 'sdpa'}))

    def test_others_are_refused_by_name(self):
        for kind in METHODS:
            for name in set(REFUSED) & names(kind.__init__):
                self.refused(errors.Unsupported, name, self.made, kind, **{name: REFUSED[name]})
        self.refused(TypeError, 'device_map', self.made, SentenceTransformer, {'device_map': 'auto'})

    def test_weights_are_pages_of_the_plan(self):
        """Also in the process that built it, which has the vectors that it would have otherwise."""
        def vectors(cache, **more):
            model = SentenceTransformer(self.folders[SentenceTransformer], device='cpu', plan_cache=cache, model_kwargs={**FAST, **more})
            return model.encode(['fine', 'red blue'])

        def mapped(cache):
            with open('/proc/self/maps') as file:
                return cache in file.read()
        plain, shared = self.path('plain'), self.path('shared')
        expected = vectors(plain)
        self.assertFalse(mapped(plain))
        model = SentenceTransformer(self.folders[SentenceTransformer], device='cpu', plan_cache=shared,
                                    model_kwargs={**FAST, 'weights': 'map'})
        np.testing.assert_array_equal(model.encode(['fine', 'red blue']), expected)
        self.assertTrue(mapped(shared))
        np.testing.assert_array_equal(vectors(shared, weights='copy'), expected)
        self.refused(errors.InvalidArgument, ["'mapped'", "'copy'", "'map'"], self.made, SentenceTransformer, {'weights': 'mapped'})

    def test_defaults_say_nothing(self):
        with self.assertNoLogs('tenfold', 'WARNING'):
            for kind, methods in METHODS.items():
                model = self.made(kind)
                for method in methods:
                    self.called(model, method)


if __name__ == '__main__':
    unittest.main()
