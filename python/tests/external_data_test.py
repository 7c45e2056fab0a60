"""Weights in files beside a model: refused in words where they cannot be read, however many; read in the layout of a hub's cache."""
import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tenfold
import tenfold.onnxruntime as ort
import tenfold.tensorrt as trt
from case import Case, model
from embeddings_case import TOKENS, WIDTH, RandomEncoder
from tenfold.embeddings import SentenceTransformer

QUICK = dict(device='cpu', optimization_level=0)


def two_weights():
    """y = (x + a) + b, x f32[300]."""
    values = [numpy_helper.from_array(np.full(300, 1 + i, np.float32), name) for i, name in enumerate('ab')]
    return model([helper.make_node('Add', ['x', 'a'], ['t']), helper.make_node('Add', ['t', 'b'], ['y'])],
                 [('x', TensorProto.FLOAT, [300])], [('y', TensorProto.FLOAT, [300])], values)


def pointing_to(location):
    made = two_weights()
    for i, w in enumerate(made.graph.initializer):
        w.ClearField('raw_data')
        w.data_location = TensorProto.EXTERNAL
        for key, value in (('location', location), ('offset', str(1200 * i)), ('length', '1200')):
            w.external_data.add(key=key, value=value)
    return made


class ExternalData(Case):
    def hub(self, made, name='model.onnx'):
        """The model and its data as huggingface_hub keeps them: links of a snapshot into blobs. The path of the model's link."""
        root, snapshot = self.path('hub/models--me--m'), self.path('hub/models--me--m/snapshots/main/onnx')
        os.makedirs(os.path.join(root, 'blobs')), os.makedirs(snapshot)
        onnx.save(made, os.path.join(root, 'blobs', 'whole'), save_as_external_data=True, location=name + '_data', size_threshold=0)
        os.replace(os.path.join(root, 'blobs', name + '_data'), os.path.join(root, 'blobs', '0123'))
        for link, blob in ((name, 'whole'), (name + '_data', '0123')):
            os.symlink(f'../../../blobs/{blob}', os.path.join(snapshot, link))
        return os.path.join(snapshot, name)

    def test_bytes_have_no_folder(self):
        for location in ('w.data', '../w.data', '', '/etc/passwd'):
            raw = pointing_to(location).SerializeToString()
            for call in (lambda: tenfold.build(raw, **QUICK), lambda: tenfold.bindings(raw), lambda: tenfold.weights(raw),
                         lambda: tenfold.Network.read(raw), lambda: ort.InferenceSession(raw, providers=['CPUExecutionProvider'])):
                with self.subTest(location), self.assertRaisesRegex(Exception, 'external data'):
                    call()
            self.assertIn('external data', tenfold.check(raw)[0].message)
            parser = trt.OnnxParser(trt.Builder(trt.Logger()).create_network(), trt.Logger())
            self.assertFalse(parser.parse(raw))
            self.assertIn('external data', parser.get_error(0).desc())

    def test_files_that_may_not_be_read(self):
        os.mkdir(self.path('inside'))
        with open(self.path('w.data'), 'wb') as file:
            file.write(b'\0' * 2400)
        os.link(self.path('w.data'), self.path('inside/hard'))
        os.symlink(self.path('w.data'), self.path('inside/out'))
        for location, words in (('hard', 'hard links'), ('out', "leads out of the model's folder"), ('../w.data', r"'\.\.'")):
            onnx.save(pointing_to(location), self.path('inside/m.onnx'))
            with self.subTest(location), self.assertRaisesRegex(tenfold.InvalidModel, words):
                tenfold.build(self.path('inside/m.onnx'), **QUICK)
        onnx.save(pointing_to('nowhere'), self.path('inside/m.onnx'))
        with self.assertRaisesRegex(tenfold.FileError, 'nowhere'):
            tenfold.build(self.path('inside/m.onnx'), **QUICK)

    def test_a_hubs_cache(self):
        path, x = self.hub(two_weights()), np.zeros(300, np.float32)
        np.testing.assert_array_equal(tenfold.build(path, **QUICK)(x), np.full(300, 3, np.float32))
        session = ort.InferenceSession(path, providers=['CPUExecutionProvider'])
        np.testing.assert_array_equal(session.run(None, {'x': x})[0], np.full(300, 3, np.float32))
        logger = trt.Logger()
        with open(path, 'rb') as file:
            data = file.read()
        for way in (lambda p: p.parse_from_file(path), lambda p: p.parse(data, path)):
            parser = trt.OnnxParser(trt.Builder(logger).create_network(), logger)
            self.assertTrue(way(parser), [parser.get_error(i).desc() for i in range(parser.num_errors)])

    def test_an_encoder_of_a_hubs_cache(self):
        """Whose vectors of tokens come from an ONNX file, beside those of the weights that it was made of."""
        truth = RandomEncoder(self.path('plain'), 'bert')
        table = truth.weights['embeddings.word_embeddings.weight']
        turn = np.random.default_rng(4).standard_normal((WIDTH, WIDTH)).astype(np.float32)
        made = model([helper.make_node('Gather', ['table', 'input_ids'], ['e']), helper.make_node('MatMul', ['e', 'turn'], ['last'])],
                     [('input_ids', TensorProto.INT64, ['batch', 'length'])], [('last', TensorProto.FLOAT, ['batch', 'length', WIDTH])],
                     [numpy_helper.from_array(table, 'table'), numpy_helper.from_array(turn, 'turn')])
        snapshot = os.path.dirname(os.path.dirname(self.hub(made)))
        for name in ('config.json', 'tokenizer.json'):
            os.symlink(os.path.join(truth.folder, name), os.path.join(snapshot, name))
        got = SentenceTransformer('me/m', cache_folder=self.path('hub'), device='cpu', plan_cache=False,
                                  model_kwargs=dict(optimization_level=0, threads=1)).encode(['how are', 'fine'])
        for row, words in zip(got, (['how', 'are'], ['fine'])):
            ids = [0, *map(TOKENS.index, words), 2]
            np.testing.assert_allclose(row, (table[ids].astype(np.float64) @ turn).mean(0), rtol=2e-5, atol=2e-5)


if __name__ == '__main__':
    unittest.main()
