"""Embedder called by itself: forms of tables, rows that have no vector, and wrong arguments. No Ray is started."""
import pickle
import unittest

import numpy as np
import pandas
import pyarrow as pa

from ray_case import WIDTH, Case, RandomEncoder, maps, texts_of, vector_truth

import tenfold
from tenfold.ray import Embedder

BAD = ['how are you?', None, 'fine.', 'red \ud800 blue', 7]


class Texts(Case):
    def setUp(self):
        super().setUp()
        self.reference = RandomEncoder(self.path('bert'), 'bert')
        self.texts = texts_of(9)
        self.truth = np.array([vector_truth(self.reference, text) for text in self.texts])

    def embedder(self, **more):
        return Embedder(self.path('bert'), **{'column': 'text', 'device': 'cpu', 'threads': 1, 'plan_cache': self.path('cache'),
                                              'model_kwargs': {'optimization_level': 0}, **more})

    def test_each_form_of_table_gets_its_own_back(self):
        embed, ids = self.embedder(), list(range(9))
        arrays = embed({'i': np.arange(9), 'text': np.array(self.texts, object)})
        self.assertEqual(list(arrays), ['i', 'text', 'embedding'])
        self.near(arrays['embedding'], self.truth, 1e-4)
        self.near(embed({'text': np.array(self.texts)})['embedding'], self.truth, 1e-4)
        frame = embed(pandas.DataFrame({'i': ids, 'text': self.texts}))
        self.near(np.stack(frame['embedding']), self.truth, 1e-4)
        table = embed(pa.table({'i': ids, 'text': self.texts}))
        self.assertEqual(table.schema.field('embedding').type, pa.list_(pa.float32(), WIDTH))
        self.near(table.column('embedding').to_pylist(), self.truth, 1e-4)
        self.assertEqual(table.column('i').to_pylist(), ids)

    def test_columns(self):
        table = self.embedder(keep='i', output='v', normalize_embeddings=True, truncate_dim=5)(pa.table({'i': [1], 'text': ['fine.']}))
        self.assertEqual(table.column_names, ['i', 'v'])
        cut = vector_truth(self.reference, 'fine.')[:5]
        self.near(table.column('v').to_pylist()[0], cut / np.linalg.norm(cut), 1e-4)
        self.refused(tenfold.InvalidArgument, ["no column 'text'", "'a'"], self.embedder(), pa.table({'a': ['x']}))
        self.refused(tenfold.InvalidArgument, ["a column 'embedding'"], self.embedder(), pa.table({'text': ['x'], 'embedding': [1]}))

    def test_no_rows(self):
        embed = self.embedder()
        self.assertEqual(embed({'text': np.array([], object)})['embedding'].shape, (0, WIDTH))
        table = embed(pa.table({'text': pa.array([], pa.string())}))
        self.assertEqual((table.num_rows, table.schema.field('embedding').type), (0, pa.list_(pa.float32(), WIDTH)))
        self.assertEqual(embed({}), {})
        self.assertEqual(embed(pa.table({})).num_rows, 0)

    def test_rows_without_a_vector_are_named(self):
        rows = {'id': np.array(list('abcde')), 'text': np.array(BAD, object)}
        error = self.refused((tenfold.InvalidInput, ValueError), ['3 of 5 texts', "'text'", 'row 1', 'null', 'row 3', '(U+D800) at 4',
                                                                  'row 4', 'int', "on_error='null'"], self.embedder(), rows)
        self.assertIn("(id 'b')", str(self.refused(tenfold.InvalidInput, 'row 1', self.embedder(key='id'), rows)))
        self.assertIs(type(pickle.loads(pickle.dumps(error))), tenfold.InvalidInput)   # on its way out of an actor

    def test_null_goes_on(self):
        table = self.embedder(on_error='null')(pa.table({'text': ['how are you?', None, 'fine.']}))
        found = table.column('embedding').to_pylist()
        self.assertIsNone(found[1])
        for at, text in ((0, 'how are you?'), (2, 'fine.')):
            self.near(found[at], vector_truth(self.reference, text), 1e-4)
        self.assertEqual(table.column('embedding_error').to_pylist()[::2], [None, None])
        self.assertIn('null', table.column('embedding_error').to_pylist()[1])
        whole = self.embedder(on_error='null')(pa.table({'text': ['fine.']}))
        self.assertEqual(whole.schema, table.schema)      # blocks without such rows fit to those with them
        self.refused(tenfold.InvalidArgument, "batch_format='pyarrow'", self.embedder(on_error='null'), {'text': np.array(['fine.'])})

    def test_a_vector_that_is_not_finite(self):
        """The weights of one token are infinite: texts with it are told by the library."""
        from embeddings_case import TOKENS, save_safetensors
        self.reference.weights['embeddings.word_embeddings.weight'][TOKENS.index('blue')] = np.inf
        save_safetensors(self.path('bert/model.safetensors'), self.reference.weights)
        table = self.embedder(on_error='null')(pa.table({'text': ['fine.', 'blue', None, 'you']}))
        self.assertEqual([v is None for v in table.column('embedding').to_pylist()], [False, True, True, False])
        self.near(table.column('embedding').to_pylist()[3], vector_truth(self.reference, 'you'), 1e-4)
        self.assertIn('finite', table.column('embedding_error').to_pylist()[1])
        self.refused(tenfold.InvalidInput, ['row 1', "'blue'", 'finite'], self.embedder(), {'text': np.array(['fine.', 'blue'])})

    def test_wrong_arguments(self):
        self.refused(TypeError, ['folder=', 'fn_constructor_kwargs'], Embedder)
        self.refused(TypeError, 'column=', Embedder, self.path('bert'))
        self.refused(tenfold.InvalidArgument, ["'raise'", "'null'"], Embedder, self.path('bert'), column='text', on_error='skip')
        self.refused(tenfold.FileError, ["'/nowhere'", 'this machine', 'each node'], Embedder('/nowhere', column='text').open)
        self.refused(tenfold.InvalidArgument, ['list', 'pyarrow'], self.embedder(), ['fine.'])

    def test_it_is_pickled_by_its_folder(self):
        embed = self.embedder()
        embed.open()
        data = pickle.dumps(embed)
        self.assertLess(len(data), 1000)
        self.near(pickle.loads(data)({'text': np.array(self.texts)})['embedding'], self.truth, 1e-4)
        self.assertTrue(maps(self.path('cache')))


if __name__ == '__main__':
    unittest.main()
