"""ELECTRA, ALBERT, ModernBERT and T5: vectors and scores beside NumPy's; folders that say what is not supported."""
import json
import os
import unittest

import numpy as np

import tenfold
from case import Case
from embeddings_case import QUICK, TOKENS, WIDTH, save_safetensors
from more_encoders_case import T5, Albert, Electra, ModernBert
from tenfold.embeddings import CrossEncoder, SentenceTransformer

WORDS = TOKENS[4:9] + TOKENS[11:]
# Longer than the window of ModernBERT's local layers, and than T5's farthest distance.
TEXTS = [' '.join(WORDS[i * k % 8] for k in range(n)) for i, n in enumerate((3, 1, 0, 30, 12, 30, 7))]
MODELS = {'electra': Electra, 'albert': Albert, 'modernbert': ModernBert,
          'modernbert of transformers 4': lambda folder: ModernBert(folder, old=True), 't5': T5,
          't5 1.1': lambda folder: T5(folder, True, 'encoder.embed_tokens.weight')}


def ids_of(text):
    return [0, *(TOKENS.index(word) for word in text.split()), 2]


class MoreEncoders(Case):
    def test_vectors_are_those_of_numpy(self):
        for kind, make in MODELS.items():
            with self.subTest(kind):
                truth = make(self.path(kind))
                model = SentenceTransformer(truth.folder, **QUICK)
                expected = [truth.tokens(ids_of(text), [0] * len(ids_of(text))) for text in TEXTS]
                np.testing.assert_allclose(model.encode(TEXTS), [rows.mean(0) for rows in expected], rtol=5e-5, atol=5e-5)
                for got, rows in zip(model.encode(TEXTS, output_value='token_embeddings'), expected):
                    np.testing.assert_allclose(got, rows, rtol=5e-5, atol=5e-5)
                self.assertEqual(model.get_embedding_dimension(), WIDTH)

    def test_scores_are_those_of_numpy(self):
        for make, labels in ((Electra, 1), (Albert, 3), (ModernBert, 2)):
            with self.subTest(make.__name__):
                truth = make(self.path(make.__name__), labels, places=80)
                model = CrossEncoder(truth.folder, **QUICK)
                pairs = [(TEXTS[i], TEXTS[i + 2]) for i in range(4)]
                expected = []
                for a, b in pairs:
                    first, second = ids_of(a), ids_of(b)[1:]
                    expected.append(truth.scores(first + second, [0] * len(first) + [1] * len(second)))
                got = model.predict(pairs, activation_fn='none')
                np.testing.assert_allclose(got.reshape(len(pairs), labels), expected, rtol=5e-5, atol=5e-5)

    def test_sentence_t5(self):
        """Its modules: the mean, a product without bias, and length 1."""
        truth = T5(self.path('t5'))
        dense = np.random.default_rng(3).standard_normal((24, WIDTH)).astype(np.float32)
        names = ('Transformer', ''), ('Pooling', '1_Pooling'), ('Dense', '2_Dense'), ('Normalize', '3_Normalize')
        truth.save('modules.json', [{'idx': i, 'name': str(i), 'path': path, 'type': 'sentence_transformers.models.' + type}
                                    for i, (type, path) in enumerate(names)])
        truth.save('1_Pooling/config.json', {'word_embedding_dimension': WIDTH, 'pooling_mode_mean_tokens': True})
        truth.save('2_Dense/config.json', {'in_features': WIDTH, 'out_features': 24, 'bias': False,
                                           'activation_function': 'torch.nn.modules.linear.Identity'})
        save_safetensors(os.path.join(truth.folder, '2_Dense', 'model.safetensors'), {'linear.weight': dense})
        expected = np.array([truth.tokens(ids_of(text)).mean(0) @ dense.T.astype(np.float64) for text in TEXTS])
        got = SentenceTransformer(truth.folder, **QUICK).encode(TEXTS)
        np.testing.assert_allclose(got, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=5e-5, atol=5e-6)

    def refused(self, truth, words, kind=SentenceTransformer, **changed):
        path = os.path.join(truth.folder, 'config.json')
        with open(path) as file:
            before = json.load(file)
        truth.save('config.json', {**before, **changed})
        with self.assertRaisesRegex(tenfold.Error, words):
            kind(truth.folder, **QUICK)
        truth.save('config.json', before)

    def test_what_is_not_supported_is_said(self):
        modern = ModernBert(self.path('modern'))
        self.refused(modern, "rope_type 'yarn'", rope_parameters={'full_attention': {'rope_type': 'yarn', 'rope_theta': 1.0}})
        self.refused(modern, 'layer_types does not name', layer_types=['full_attention'])
        self.refused(modern, "the layer type 'linear'", layer_types=['linear'] * 4)
        self.refused(ModernBert(self.path('head'), 1), "classifier_pooling is 'max'", CrossEncoder, classifier_pooling='max')
        self.refused(T5(self.path('t5')), 'heads of scores of model_type', CrossEncoder, architectures=['T5ForSequenceClassification'])
        self.refused(T5(self.path('t5 again'), True), "activation 'elu'", feed_forward_proj='gated-elu')
        self.refused(Albert(self.path('albert')), 'num_hidden_groups is larger', num_hidden_groups=9)
        self.refused(Electra(self.path('electra')), 'embeddings_project', embedding_size=WIDTH // 2, hidden_size=WIDTH * 2)


if __name__ == '__main__':
    unittest.main()
