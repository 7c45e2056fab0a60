"""The blocks of the guide as they stand (../seeds_case.py), ONNX files beside ONNX Runtime, own engines. Needs tenfold-shim, too."""
import os
import subprocess
import sys
import unittest

import numpy as np
import tenfold
from hana_case import MINILM, MPNET, TEXTS, HanaCase, ids_of
from tenfold_hana import TensorRTEmbeddings
from tenfold_hana.export_onnx import export_onnx

from seeds_case import block

SAVE = '''
import numpy as np
np.save("rows.npy", embeddings.embed_documents(%r))
''' % TEXTS
BASE = '''
from langchain_hana.gpu import TensorRTEmbeddings
base_model = TensorRTEmbeddings("sentence-transformers/all-mpnet-base-v2", precision="fp32")
'''


class Guide(HanaCase):
    def block(self, words, before='', after=SAVE):
        text = before + block('000', words) + after
        done = subprocess.run([sys.executable, '-c', text], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def rows(self):
        return np.load(self.path('rows.npy'))

    def cosines(self):
        exact = np.array(TensorRTEmbeddings(MPNET, precision='fp32').embed_documents(TEXTS))
        return (exact * self.rows()).sum(1)

    def test_calibration(self):
        self.block('calibration_data=calibration_data')
        self.assertTrue(os.path.exists(self.path('engines/sentence-transformers_all-mpnet-base-v2_int8.engine')))
        self.assertGreater(self.cosines().mean(), 0.98)   # the budget is 0.99 on the block's own texts

    def test_benchmark(self):
        printed = self.block('embeddings.benchmark(').stdout
        self.assertRegex(printed, r'Single query latency: \d+\.\d\d ms\nBatch 32 throughput: \d+\.\d\d docs/s\n')
        self.assertGreater(self.cosines().min(), 0.999)

    def test_tensor_cores(self):
        printed = self.block('TensorCoreOptimizer()')
        gpu = any(float(d.features[3:] or 0) >= 70 for d in tenfold.devices() if d.features.startswith('sm_'))
        self.assertEqual(printed.stdout, f'Tensor Cores supported: {gpu}\n')
        self.assertGreater(self.cosines().min(), 0.999)

    def test_pipeline(self):
        done = self.block('configure_pipeline', BASE)
        self.near_truth(self.rows(), MPNET)
        if tenfold.why_no_gpu():
            self.assertIn('the CPU computes', done.stderr)

    def test_custom_engine(self):
        """The block defines a class; the parts that it leaves out are filled in by one that derives from it."""
        self.block('class CustomTensorRTEmbeddings', after='''
class Whole(TensorRTEmbeddings):
    def _build_engine(self, engine_path, trt_logger):
        self.export_onnx("model.onnx")
        builder = trt.Builder(trt_logger)
        network = builder.create_network()
        parser = trt.OnnxParser(network, trt_logger)
        assert parser.parse_from_file("model.onnx")
        config = builder.create_builder_config()
        config.max_workspace_size = 2 << 30
        profile = builder.create_optimization_profile()
        for name in ("input_ids", "attention_mask"):
            profile.set_shape(name, (1, 8), (4, 16), (8, 40))
        config.add_optimization_profile(profile)
        with open(engine_path, "wb") as file:
            file.write(builder.build_serialized_network(network, config))

embeddings = Whole("sentence-transformers/all-mpnet-base-v2", precision="fp32")
again = Whole("sentence-transformers/all-mpnet-base-v2", precision="fp32")
assert again.embed_documents(["fine."]) == embeddings.embed_documents(["fine."])
assert embeddings.embed_documents([]) == []
''' + SAVE)
        self.near_truth(self.rows(), MPNET)

    def test_longer_texts_are_cut_as_everywhere(self):
        """An engine of 12 tokens gives long texts the vectors of the model that is cut there: the last token is kept, and it is told."""
        long = ['how are you? ' * 20, 'fine.', 'red blue ' * 9]

        class Short(TensorRTEmbeddings):
            def _build_engine(self, engine_path, trt_logger):
                self.export_onnx(engine_path + '.onnx')
                shapes = ((1, 1), (2, 12), (4, 12))
                tenfold.build(engine_path + '.onnx', profiles={n: shapes for n in ('input_ids', 'attention_mask')}, optimization_level=0,
                              tf32=False, device='cpu').save(engine_path)
        with self.assertLogs('tenfold', 'WARNING') as reported:
            embeddings = Short(MINILM, precision='fp32')
            rows = embeddings.embed_documents(long)
        words = '\n'.join(reported.output)
        self.assertIn('takes texts of at most 12 tokens', words)
        self.assertRegex(words, r'text 0 has \d+ tokens and is cut to 12')
        self.near_cut(rows, long, 12)
        self.near_cut([embeddings.embed_query(long[0])], long[:1], 12)

    def near_cut(self, rows, texts, tokens):
        model = self.models[MINILM]
        ids = [found if len(found) <= tokens else [*found[:tokens - 1], found[-1]] for found in map(ids_of, texts)]
        expected = np.array([model.tokens(one, np.zeros(len(one), int)).mean(0) for one in ids])
        np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=2e-5)

    def test_export(self):
        export, trtexec = block('000', 'langchain_hana.gpu.export_onnx').split('# Convert')
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ['PATH']])
        subprocess.run(['bash', '-ec', export], cwd=self.folder, check=True, env={**os.environ, 'PATH': path})
        # Random ids are beyond the small model's vocabulary, so that it is built and not timed.
        command = trtexec.partition('\n')[2].replace('trtexec', f'{sys.executable} -m tenfold exec --skipInference', 1)
        done = subprocess.run(['bash', '-ec', command], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.getsize(self.path('model.engine')))


class Hook(HanaCase):
    def test_super_builds_the_engine(self):
        class Watched(TensorRTEmbeddings):
            def _build_engine(self, engine_path, trt_logger):
                built.append((os.path.basename(engine_path), type(trt_logger).__name__))
                super()._build_engine(engine_path, trt_logger)
        built = []
        for _ in range(2):
            self.near_truth(Watched(MINILM, precision='fp32').embed_documents(TEXTS))
        self.assertEqual(built, [('sentence-transformers_all-MiniLM-L6-v2_fp32.engine', 'Logger')])

    def test_one_that_writes_nothing(self):
        class Idle(TensorRTEmbeddings):
            def _build_engine(self, engine_path, trt_logger):
                pass
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'wrote no .*_fp32.engine'):
            Idle(MINILM, precision='fp32')


class Export(HanaCase):
    def test_beside_onnx_runtime(self):
        import onnx
        import onnxruntime
        for kind, pooling in (('bert', 'mean'), ('distilbert', 'cls'), ('roberta', 'max'), ('mpnet', 'mean')):
            with self.subTest(kind):
                name = f'tests/{kind}'
                model = self.models[name] = self.model(name, kind)
                model.save('modules.json', [{'idx': i, 'name': str(i), 'path': p, 'type': f'sentence_transformers.models.{k}'}
                                            for i, (p, k) in enumerate((('', 'Transformer'), ('1_Pooling', 'Pooling')))])
                flag = {'mean': 'mean_tokens', 'cls': 'cls_token', 'max': 'max_tokens'}[pooling]
                model.save('1_Pooling/config.json', {'word_embedding_dimension': 16, f'pooling_mode_{flag}': True})
                export_onnx(model.folder, self.path('model.onnx'))
                onnx.checker.check_model(onnx.load(self.path('model.onnx')), full_check=True)
                embeddings = TensorRTEmbeddings(name, precision='fp32')
                tokens = embeddings._client.tokenize(TEXTS)
                session = onnxruntime.InferenceSession(self.path('model.onnx'))
                rows, = session.run(['embeddings'], {key: tokens[key] for key in ('input_ids', 'attention_mask')})
                rows /= np.linalg.norm(rows, axis=1, keepdims=True)
                np.testing.assert_allclose(rows, embeddings.embed_documents(TEXTS), atol=2e-5)

    def test_bad_input(self):
        folder = self.models[MINILM].folder
        with self.assertRaisesRegex(tenfold.FileError, 'cannot be written'):
            export_onnx(folder, self.path('no/such/folder.onnx'))
        pooling = {'idx': 0, 'name': '0', 'path': '1_Pooling', 'type': 'sentence_transformers.models.Pooling'}
        self.models[MINILM].save('modules.json', [pooling])
        self.models[MINILM].save('1_Pooling/config.json', {'pooling_mode_lasttoken': True})
        with self.assertRaisesRegex(tenfold.Unsupported, 'this model has lasttoken'):
            export_onnx(folder, self.path('model.onnx'))
        done = subprocess.run([sys.executable, '-m', 'langchain_hana.gpu.export_onnx', '--model', 'nobody/nothing', '--output', 'x'],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('nothing is fetched', done.stderr)


if __name__ == '__main__':
    unittest.main()
