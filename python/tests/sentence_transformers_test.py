"""tenfold.embeddings beside sentence-transformers on the same folders: forms, types, order, prompts, scores; and their own examples.

Both have to be installed, with torch; CI has no torch and leaves this out (sentence_transformers_names_test.py is there).
"""
import contextlib
import importlib.util
import inspect
import io
import itertools
import os
import re
import sys
import textwrap
import unittest
from unittest import mock

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
import numpy as np

from case import Case, needs
from tenfold import embeddings as ours

HERE = os.path.dirname(os.path.abspath(__file__))
HAVE = all(importlib.util.find_spec(name) for name in ('torch', 'transformers', 'sentence_transformers'))
if HAVE:
    sys.path.insert(0, os.path.join(HERE, '..', '..', 'tests'))
    import random_encoders
    import sentence_transformers as theirs
    import torch

TINY = dict(width=32, heads=4, layers=2, wide=64)
QUICK = dict(device='cpu', model_kwargs=dict(optimization_level=0, threads=1), plan_cache=False)
TEXTS = ['The weather is lovely today.', "It's so sunny outside!", 'He drove to the stadium.', '', 'a', 'word ' * 70, 'Größe, 日本語 и 😀.',
         ' leading and trailing ', 'UPPER and lower', 'the same', 'the same']
PROMPTS = {'query': 'search for: ', 'passage': 'text: '}


def numbers(value):
    """Arrays of whatever form, and the form: type names inside lists and dicts."""
    if HAVE and isinstance(value, torch.Tensor):
        return value.detach().numpy()
    return np.asarray(value)


@unittest.skipUnless(HAVE, 'torch, transformers and sentence-transformers are not installed')
@needs('sentence-transformers', '6.2')
class Beside(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = folder.name
        path = lambda name: os.path.join(cls.root, name)
        cls.tokenizer = random_encoders.tokenizer_of('bert', TEXTS * 3)
        cls.plain = random_encoders.save(path('plain'), 'bert', cls.tokenizer, size=TINY)
        cls.made = {'plain': cls.plain,
                    'prompts': random_encoders.with_modules(path('prompts'), cls.plain, 'mean', prompts=PROMPTS),
                    'default': random_encoders.with_modules(path('default'), cls.plain, 'cls', prompts=PROMPTS,
                                                            default_prompt_name='query', include_prompt=False),
                    'tokens': random_encoders.with_modules(path('tokens'), cls.plain, 'mean', on_tokens=24, dense=24, residual=True),
                    'short': random_encoders.with_modules(path('short'), cls.plain, 'mean', truncate_dim=8, similarity_fn_name='dot')}
        cls.tokenizer.truncation_side = 'left'
        cls.made['left'] = random_encoders.save(path('left'), 'bert', cls.tokenizer, size=TINY)
        cls.tokenizer.truncation_side = 'right'
        cls.heads = {labels: random_encoders.save(path(f'head{labels}'), 'bert', cls.tokenizer, labels, TINY) for labels in (1, 3)}

    def both(self, name, **options):
        return (ours.SentenceTransformer(str(self.made[name]), **QUICK, **options),
                theirs.SentenceTransformer(str(self.made[name]), device='cpu', **options))

    def alike(self, found, expected, levels=0):
        found, expected = numbers(found), numbers(expected)
        self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype))
        if levels:
            off = np.abs(found.astype(int) - expected.astype(int))
            self.assertLessEqual(off.max(initial=0), levels)
            self.assertLess((off != 0).mean(), 0.05)   # a level is floor() of something near a whole number
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5)

    def test_forms_of_texts(self):
        a, b = self.both('plain')
        for texts in (TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, object), [TEXTS[0]], TEXTS[0], ''):
            self.alike(a.encode(texts), b.encode(texts))
        self.assertEqual((len(a.encode([])), len(b.encode([]))), (0, 0))

    def test_all_arguments_together(self):
        random = np.random.default_rng(4)
        a, b = self.both('prompts')
        choices = dict(precision=['float32', 'float32', 'int8', 'uint8', 'binary', 'ubinary'], normalize_embeddings=[False, True],
                       truncate_dim=[None, 8, 32], convert_to_tensor=[False, True], prompt_name=[None, 'query', 'passage'],
                       prompt=[None, None, 'as told '], batch_size=[1, 32])
        for _ in range(60):
            call = {name: values[random.integers(len(values))] for name, values in choices.items()}
            with self.subTest(**call):
                found, expected = a.encode(TEXTS, **call), b.encode(TEXTS, **call)
                self.assertIs(type(found), type(expected))
                self.alike(found, expected, levels={'int8': 1, 'uint8': 1, 'binary': 255, 'ubinary': 255}.get(call['precision'], 0))

    def test_binary_bits(self):
        a, b = self.both('plain')
        floats, sure = b.encode(TEXTS), np.abs(b.encode(TEXTS)) > 1e-4
        bits = np.unpackbits(a.encode(TEXTS, precision='ubinary'), axis=1)
        np.testing.assert_array_equal(bits[sure], (floats > 0)[sure])
        np.testing.assert_array_equal(a.encode(TEXTS, precision='binary'), (a.encode(TEXTS, precision='ubinary') - 128).astype(np.int8))

    def test_methods_for_queries_and_documents(self):
        for name in self.made:
            a, b = self.both(name)
            self.assertEqual((a.prompts, a.default_prompt_name, a.truncate_dim), (b.prompts, b.default_prompt_name, b.truncate_dim))
            self.assertEqual(a.get_embedding_dimension(), b.get_embedding_dimension())
            self.assertEqual(a.similarity_fn_name, b.similarity_fn_name)
            for method in ('encode', 'encode_query', 'encode_document'):
                with self.subTest(name, method=method):
                    self.alike(getattr(a, method)(TEXTS), getattr(b, method)(TEXTS))

    def test_prompts_of_the_constructor(self):
        a, b = self.both('prompts', prompts={'query': 'other: ', 'title': 'a title '}, default_prompt_name='title')
        self.assertEqual(a.prompts, b.prompts)
        self.alike(a.encode(TEXTS), b.encode(TEXTS))
        self.alike(a.encode_query(TEXTS[0]), b.encode_query(TEXTS[0]))

    def test_output_values(self):
        for name, texts in itertools.product(('prompts', 'tokens'), (TEXTS, TEXTS[0])):
            a, b = self.both(name)
            found, expected = a.encode(texts, output_value='token_embeddings'), b.encode(texts, output_value='token_embeddings')
            for mine, its in zip(found, expected) if isinstance(texts, list) else [(found, expected)]:
                self.alike(mine, its)
        a, b = self.both('prompts')
        for mine, its in zip(a.encode(TEXTS, output_value=None), b.encode(TEXTS, output_value=None)):
            count = int(its['attention_mask'].sum())
            self.alike(mine['sentence_embedding'], its['sentence_embedding'])
            self.alike(mine['token_embeddings'], its['token_embeddings'][:count])
            self.assertEqual(mine['input_ids'].tolist(), its['input_ids'][:count].tolist())

    def test_what_the_model_is_given(self):
        a, b = self.both('plain')
        for name, value in b.preprocess(TEXTS).items():
            if name != 'modality':
                np.testing.assert_array_equal(a.preprocess(TEXTS)[name], value)

    def test_lengths(self):
        words = ' '.join(TEXTS)
        for name in ('plain', 'left'):
            a, b = self.both(name)
            self.assertEqual(a.max_seq_length, b.max_seq_length)
            a.max_seq_length = b.max_seq_length = 12
            self.alike(a.encode([*TEXTS, words]), b.encode([*TEXTS, words]))
            long = sum(len(b.tokenizer(text)['input_ids']) > 12 for text in [*TEXTS, words])
            self.assertEqual((a.get_max_seq_length(), a.counts['truncated']), (12, long))

    def test_dimensions(self):
        a, b = self.both('short')
        for dimensions in (None, 4, 32):
            self.alike(a.encode(TEXTS, truncate_dim=dimensions), b.encode(TEXTS, truncate_dim=dimensions))
            with a.truncate_embeddings(dimensions), b.truncate_embeddings(dimensions):
                self.alike(a.encode(TEXTS), b.encode(TEXTS))
                self.assertEqual(a.get_embedding_dimension(), b.get_embedding_dimension())

    def test_similarities(self):
        for function in ('cosine', 'dot', 'euclidean', 'manhattan'):
            a, b = self.both('plain', similarity_fn_name=function)
            x, y = b.encode(TEXTS[:5]), b.encode(TEXTS[3:8])
            for left, right in ((x, y), (x[0], y[1]), (torch.tensor(x), torch.tensor(y)), (list(x), list(y))):
                self.near(numbers(a.similarity(left, right)), b.similarity(left, right), 1e-4)
                self.near(numbers(a.similarity_pairwise(left, right)), np.atleast_1d(b.similarity_pairwise(left, right)), 1e-4)
            self.assertIsInstance(a.similarity(torch.tensor(x), torch.tensor(y)), torch.Tensor)

    def test_scores(self):
        pairs = list(itertools.product(TEXTS[:3], TEXTS[3:8]))
        sigmoid, identity, softmax = torch.nn.Sigmoid(), torch.nn.Identity(), torch.nn.Softmax(dim=-1)
        for labels, folder in self.heads.items():
            a, b = ours.CrossEncoder(str(folder), **QUICK), theirs.CrossEncoder(str(folder), device='cpu')
            self.assertEqual((a.num_labels, a.max_seq_length), (b.num_labels, b.max_seq_length))
            calls = [{}, dict(apply_softmax=True), dict(convert_to_tensor=True), dict(prompt='now: '), dict(activation_fn=sigmoid),
                     dict(activation_fn=identity), dict(activation_fn=torch.sigmoid), dict(activation_fn=sigmoid, apply_softmax=True)]
            for call in calls + ([dict(activation_fn=softmax)] if labels > 1 else []):
                for inputs in (pairs, [list(p) for p in pairs], np.array(pairs), pairs[:1], pairs[0], list(pairs[1])):
                    with self.subTest(labels=labels, **call):
                        if isinstance(inputs, tuple) and isinstance(inputs[0], str):
                            expected = b.predict([inputs], **call)[0]
                        else:
                            expected = b.predict(inputs, **call)
                        self.alike(a.predict(inputs, **call), expected)
            self.assertEqual(len(a.predict([])), 0)

    def test_scores_of_saved_models(self):
        pairs = list(itertools.product(TEXTS[:2], TEXTS[3:6]))
        for i, (labels, function) in enumerate(itertools.product((1, 3), (None, torch.nn.Identity(), torch.nn.Sigmoid()))):
            saved = self.path(str(i))
            theirs.CrossEncoder(str(self.heads[labels]), device='cpu', activation_fn=function, prompts={'query': 'now: '},
                                default_prompt_name='query').save(saved)
            a, b = ours.CrossEncoder(saved, **QUICK), theirs.CrossEncoder(saved, device='cpu')
            self.assertEqual((a.prompts, a.default_prompt_name), (b.prompts, b.default_prompt_name))
            self.alike(a.predict(pairs), b.predict(pairs))

    def test_ranks(self):
        a, b = ours.CrossEncoder(str(self.heads[1]), **QUICK), theirs.CrossEncoder(str(self.heads[1]), device='cpu')
        for call in ({}, dict(top_k=2), dict(return_documents=True), dict(prompt='now: '), dict(activation_fn=torch.nn.Identity())):
            found, expected = a.rank(TEXTS[0], TEXTS[:9], **call), b.rank(TEXTS[0], TEXTS[:9], **call)
            self.assertEqual([{**r, 'score': 0} for r in found], [{**r, 'score': 0} for r in expected])
            self.near([r['score'] for r in found], [r['score'] for r in expected], 1e-4)
        self.assertEqual(a.rank('a', []), [])

    def test_both_refuse(self):
        a, b = self.both('prompts')
        for bad in (dict(batch_size=0), dict(precision='int4'), dict(prompt_name='none of them'), dict(nothing=1)):
            for model in (a, b):
                with self.subTest(type(model).__module__, **bad), self.assertRaises((ValueError, TypeError)):
                    model.encode(TEXTS, **bad)
        with self.assertRaises(ValueError):
            self.both('prompts', default_prompt_name='none of them')
        with self.assertRaises(ValueError):
            ours.CrossEncoder(str(self.heads[3]), **QUICK).rank('a', ['b'])


def blocks(text):
    """The blocks of code of a docstring, or of a page in Markdown."""
    yield from re.findall(r'```python\n(.*?)```', text, re.S)
    for block in re.findall(r'^ *::\n((?:\n|(?! *::\n) .*)*)', text, re.M):
        yield textwrap.dedent(block.strip('\n'))


def examples():
    """(where, code) of their docstrings and README that use names of ours, with the import changed; without what needs processes."""
    import importlib.metadata
    texts = {'README': importlib.metadata.metadata('sentence-transformers').get_payload()}
    for kind in (theirs.SentenceTransformer, theirs.CrossEncoder):
        texts[kind.__name__] = inspect.getdoc(kind)
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if hasattr(getattr(ours, kind.__name__), name):
                texts[f'{kind.__name__}.{name}'] = inspect.getdoc(method) or ''
    seen = set()
    for where, text in texts.items():
        for code in blocks(text):
            code = re.split(r'\n# Using multiprocessing', code)[0]
            imported = re.findall(r'^from sentence_transformers import (.*)$', code, re.M)
            if imported and set(imported) <= set(ours.__all__) and code not in seen:
                seen.add(code)
                yield where, code.replace('from sentence_transformers import', 'from tenfold.embeddings import')


@unittest.skipUnless(HAVE, 'torch, transformers and sentence-transformers are not installed')
class Examples(Case):
    def test_their_examples_run(self):
        tokenizer = random_encoders.tokenizer_of('bert', TEXTS * 3)
        folders = {'SentenceTransformer': random_encoders.save(self.path('plain'), 'bert', tokenizer, size=TINY),
                   'CrossEncoder': random_encoders.save(self.path('head'), 'bert', tokenizer, 1, TINY)}
        ran = set()
        for where, code in examples():
            for kind, model in re.findall(r'(SentenceTransformer|CrossEncoder)\(\s*["\']([^"\']+)', code):
                owner = '' if '/' in model else 'sentence-transformers/' if kind == 'SentenceTransformer' else 'cross-encoder/'
                snapshots = self.path('hub/models--' + (owner + model).replace('/', '--') + '/snapshots')
                if not os.path.exists(snapshots):
                    os.makedirs(snapshots)
                    os.symlink(folders[kind], os.path.join(snapshots, 'main'))
            with self.subTest(where), mock.patch.dict(os.environ, HF_HOME=self.folder, XDG_CACHE_HOME=self.folder, TENFOLD_DEVICE='cpu'):
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, where, 'exec'), {})
            ran.add(where)
        self.assertLessEqual({'README', 'SentenceTransformer', 'CrossEncoder', 'CrossEncoder.predict', 'CrossEncoder.rank'}, ran)


if __name__ == '__main__':
    unittest.main()
