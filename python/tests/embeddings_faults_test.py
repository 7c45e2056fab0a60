"""What goes wrong with encoders' folders, texts, arguments and caches: each time one error that names what was expected."""
import os
import struct
import unittest

import numpy as np

import tenfold
from case import Case
from embeddings_case import QUICK, TOKENS, WIDTH, RandomEncoder, save_safetensors
from tenfold.embeddings import CrossEncoder, SentenceTransformer

MODULES = [{'idx': 0, 'name': '0', 'path': '', 'type': 'sentence_transformers.models.Transformer'},
           {'idx': 1, 'name': '1', 'path': '1_Pooling', 'type': 'sentence_transformers.models.Pooling'},
           {'idx': 2, 'name': '2', 'path': '2_Dense', 'type': 'sentence_transformers.models.Dense'}]
POOLING = {'word_embedding_dimension': WIDTH, 'pooling_mode_mean_tokens': True}
DENSE = {'in_features': WIDTH, 'out_features': 3, 'bias': False, 'activation_function': 'torch.nn.modules.linear.Identity'}


class Folders(Case):
    def setUp(self):
        super().setUp()
        self.encoder = RandomEncoder(self.path('bert'), 'bert')

    def wrong(self, words, kind=tenfold.InvalidModel):
        """The folder is refused so, and then made anew."""
        self.refused((tenfold.Error, kind), words, SentenceTransformer, self.encoder.folder, **QUICK)
        for name in os.listdir(self.encoder.folder):
            if os.path.isfile(os.path.join(self.encoder.folder, name)):
                os.remove(os.path.join(self.encoder.folder, name))
        self.encoder = RandomEncoder(self.path('bert'), 'bert')

    def write(self, name, data):
        with open(os.path.join(self.encoder.folder, name), 'wb') as file:
            file.write(data)

    def remove(self, name):
        os.remove(os.path.join(self.encoder.folder, name))

    def modules(self, pooling=None, dense=None, weights=None, modules=MODULES):
        self.encoder.save('modules.json', modules)
        self.encoder.save('1_Pooling/config.json', pooling or POOLING)
        self.encoder.save('2_Dense/config.json', dense or DENSE)
        save_safetensors(os.path.join(self.encoder.folder, '2_Dense', 'model.safetensors'),
                         weights or {'linear.weight': np.ones((3, WIDTH), np.float32)})

    def config(self, **changed):
        self.encoder.save('config.json', {**self.encoder.config(), **changed})

    def test_missing_pieces(self):
        self.remove('config.json'), self.wrong('config.json', tenfold.FileError)
        self.remove('model.safetensors'), self.wrong(['no model.safetensors', 'no model.onnx'], tenfold.FileError)
        self.remove('tokenizer.json'), self.wrong('tokenizer.json', tenfold.FileError)
        self.remove('model.safetensors'), self.write('pytorch_model.bin', b'x')
        self.wrong(['pickle', 'save_pretrained'], tenfold.Unsupported)
        self.modules(), os.remove(os.path.join(self.encoder.folder, '1_Pooling', 'config.json'))
        self.wrong("1_Pooling/config.json' is missing")
        self.remove('model.safetensors')
        self.encoder.save('model.safetensors.index.json', {'weight_map': {'x': 'model-00001-of-00002.safetensors'}})
        self.wrong('model-00001-of-00002.safetensors', tenfold.FileError)

    def test_files_that_are_none(self):
        for name in ('config.json', 'tokenizer.json', 'modules.json', 'config_sentence_transformers.json', 'sentence_bert_config.json'):
            for text in (b'', b'{', b'[]', b'3', b'\xff\xfe'):
                self.write(name, text), self.wrong(name)
        self.write('model.safetensors', b''), self.wrong('is no safetensors file')
        self.write('model.safetensors', struct.pack('<Q', 1 << 60) + b'{}'), self.wrong('is no safetensors file')
        with open(os.path.join(self.encoder.folder, 'model.safetensors'), 'rb') as file:
            whole = file.read()
        self.write('model.safetensors', whole[:-4]), self.wrong(['there are', 'cut off'])

    def test_pieces_that_disagree(self):
        self.config(hidden_size=12), self.wrong(['by config.json its shape is', 'of different models'])
        self.config(num_hidden_layers=3), self.wrong(["no tensor 'encoder.layer.2", 'which config.json asks for'])
        self.config(num_attention_heads=3), self.wrong('no multiple of num_attention_heads')
        self.config(hidden_act='cubic'), self.wrong("the activation 'cubic'", tenfold.Unsupported)
        self.config(position_embedding_type='relative_key'), self.wrong('only absolute')
        self.config(is_decoder=True), self.wrong('is_decoder is true')
        self.config(model_type='deberta-v2'), self.wrong(["'deberta-v2'", 'model.onnx'], tenfold.Unsupported)
        for number in (0, -1, 1 << 40, 'many', None, 1.5):
            self.config(num_hidden_layers=number), self.wrong('num_hidden_layers')
        self.encoder.weights['embeddings.word_embeddings.weight'] = np.ones((len(TOKENS) - 2, WIDTH), np.float32)
        save_safetensors(os.path.join(self.encoder.folder, 'model.safetensors'), self.encoder.weights)
        self.config(vocab_size=len(TOKENS) - 2), self.wrong([f'{len(TOKENS)} tokens', f'embeddings for {len(TOKENS) - 2}'])

    def test_modules_that_disagree(self):
        self.modules(pooling={**POOLING, 'word_embedding_dimension': 9}), self.wrong('word_embedding_dimension is 9')
        self.modules(pooling={'pooling_mode': 'middle'}), self.wrong(["'middle'", 'lasttoken'], tenfold.Unsupported)
        self.modules(dense={**DENSE, 'in_features': 9}), self.wrong('in_features is 9')
        self.modules(dense={**DENSE, 'activation_function': 'torch.nn.Softsign'}), self.wrong("'Softsign'", tenfold.Unsupported)
        self.modules(weights={'linear.weight': np.ones((2, WIDTH), np.float32)}), self.wrong('linear.weight')
        self.modules(dense={**DENSE, 'module_input_name': 'token_embeddings'})
        self.wrong(['reads token_embeddings', 'where sentence_embedding'], tenfold.Unsupported)
        self.modules(modules=MODULES[1:]), self.wrong('begin with one Transformer', tenfold.Unsupported)
        self.modules(modules=[MODULES[0]]), self.wrong('needs a Pooling')
        for path in ('../other', '/etc'):
            self.modules(modules=[MODULES[0], {**MODULES[1], 'path': path}]), self.wrong('leads out of the folder')
        for path in ('1_Pooling', '7_CNN'):   # the type is looked at before its folder
            self.modules(modules=[*MODULES, {**MODULES[1], 'path': path, 'type': 'sentence_transformers.models.CNN'}])
            self.wrong('the module CNN is not supported', tenfold.Unsupported)
        for mode in ([], ['mean', 3], 7):
            self.modules(pooling={'pooling_mode': mode}), self.wrong('pooling_mode')

    def test_poolings_that_are_all_off(self):
        """sentence-transformers takes the mean; so does Tenfold, and says so."""
        self.encoder.save('modules.json', MODULES[:2])
        self.encoder.save('1_Pooling/config.json', {'pooling_mode_cls_token': False, 'pooling_mode_mean_tokens': False})
        with self.assertLogs('tenfold', 'WARNING') as reported:
            model = SentenceTransformer(self.encoder.folder, **QUICK)
        self.assertIn('all pooling modes are false; the mean is taken', reported.output[0])
        np.testing.assert_allclose(model.encode('how'), model.encode('how', output_value='token_embeddings').mean(0), atol=1e-5)

    def test_modules_behind_a_head(self):
        head = RandomEncoder(self.path('head'), 'bert', 1)
        head.save('modules.json', [MODULES[0], MODULES[2]])
        head.save('2_Dense/config.json', DENSE)
        self.refused(tenfold.Unsupported, ['after a classification head', 'Dense'], CrossEncoder, head.folder, **QUICK)
        head.save('modules.json', [MODULES[0]])
        head.save('config_sentence_transformers.json', {'activation_fn': 'torch.nn.modules.activation.ReLU'})
        self.refused(tenfold.InvalidModel, ["'torch.nn.modules.activation.ReLU'", 'Sigmoid'], CrossEncoder(head.folder, **QUICK).predict,
                     [('a', 'b')])

    def test_default_prompts_that_are_not_there(self):
        self.encoder.save('config_sentence_transformers.json', {'prompts': {'query': 'q '}, 'default_prompt_name': 'title'})
        self.wrong("default_prompt_name is 'title'")


class Calls(Case):
    def setUp(self):
        super().setUp()
        self.model = SentenceTransformer(RandomEncoder(self.path('bert'), 'bert').folder, **QUICK)

    def test_texts(self):
        encode = self.model.encode
        for bad, words in ((None, 'NoneType'), (b'x', 'bytes'), (3, 'int'), ({'a': 1}, 'dict'), (['a', None], 'text 1 is a NoneType'),
                           ([b'a'], 'text 0 is a bytes'), ([['a']], 'text 0 is a list'), (np.array([1.5]), 'text 0 is a float')):
            self.refused(TypeError, words, encode, bad)
        self.refused(tenfold.InvalidArgument, ['text 1 has lone surrogates', "'replace'"], encode, ['a', '\ud800'])
        self.assertEqual(encode(iter(['fine', 'red'])).shape, (2, WIDTH))

    def test_arguments(self):
        for words, call in (('batch_size is 0', dict(batch_size=0)), ('precision', dict(precision='int4')),
                            ("output_value is 'words'", dict(output_value='words')), ('truncate_dim is 17', dict(truncate_dim=17)),
                            ('truncate_dim is 0', dict(truncate_dim=0)), ('needs the range of each dimension', dict(precision='int8')),
                            ("no prompt 'title'", dict(prompt_name='title'))):
            self.refused(tenfold.InvalidArgument, words, self.model.encode, ['fine'], **call)
        self.refused(tenfold.InvalidArgument, 'empty list', self.model.encode, 'fine', device=[])
        self.refused(tenfold.InvalidArgument, 'start_multi_process_pool', self.model.encode, 'fine', pool=5)
        folder = self.model.folder
        for words, call in (('truncate_dim is 17', dict(truncate_dim=17)), ('backend', dict(backend='tensorflow')),
                            ('has places for', dict(max_seq_length=1000)), ("no prompt 'title'", dict(default_prompt_name='title')),
                            ('the similarity', dict(similarity_fn_name='maxsim')), ('dtype', dict(model_kwargs={'dtype': 'int4'}))):
            self.refused(tenfold.InvalidArgument, words, SentenceTransformer, folder, **{**QUICK, **call})
        self.refused(tenfold.InvalidArgument, 'max_seq_length is 0', setattr, self.model, 'max_seq_length', 0)
        self.refused(tenfold.InvalidArgument, 'no classification head', CrossEncoder, folder, **QUICK)

    def test_pairs(self):
        model = CrossEncoder(RandomEncoder(self.path('head'), 'bert', 3).folder, **QUICK)
        for bad, words in (('ab', 'got str'), (None, 'NoneType'), ([('a', 'b', 'c')], 'two texts were expected'),
                           (['ab', 'cd', 'ef'], "'ab'"), ([('a', None)], 'two str were expected'),
                           ([['a', b'b']], 'two str were expected')):
            self.refused(TypeError, words, model.predict, bad)
        self.refused(tenfold.InvalidArgument, 'has 3', model.rank, 'a', ['b'])
        self.refused(tenfold.InvalidArgument, 'activation_fn', model.predict, [('a', 'b')], activation_fn='tanh')
        self.refused(tenfold.InvalidArgument, 'num_labels is 2', CrossEncoder, model.folder, num_labels=2, **QUICK)

    def test_a_cache_that_cannot_be_written(self):
        file = self.path('file')
        with open(file, 'w'):
            pass
        keep = {**QUICK, 'plan_cache': os.path.join(file, 'plans')}
        with self.assertLogs('tenfold', 'WARNING') as reported:
            self.assertEqual(SentenceTransformer(self.model.folder, **keep).encode('fine').shape, (WIDTH,))
        self.assertIn('plans are not kept', reported.output[0])


class Tokenizers(Case):
    def load(self, **changed):
        encoder = RandomEncoder(self.path('bert'), 'bert')
        encoder.save('tokenizer.json', {**encoder.tokenizer(), **changed})
        return SentenceTransformer(encoder.folder, **QUICK)

    def test_patterns_that_explode(self):
        model = self.load(pre_tokenizer={'type': 'Split', 'pattern': {'Regex': '(a+)+$'}, 'behavior': 'Isolated', 'invert': False})
        self.refused(tenfold.Error, ['text 0', 'pattern'], model.encode, 'a' * 60 + '!')

    def test_a_million_added_tokens(self):
        tokens = [{'id': i + len(TOKENS), 'content': f'<{i}>', 'special': False} for i in range(10**6)]
        self.refused(tenfold.InvalidModel, '1000014 tokens', self.load, added_tokens=tokens)

    def test_merges_in_a_circle(self):
        model = {'type': 'BPE', 'vocab': {**{t: i for i, t in enumerate(TOKENS[:4])}, 'a': 4, 'ab': 5, 'b': 6}, 'merges': ['a b', 'ab a'],
                 'unk_token': '[UNK]'}
        self.refused(tenfold.InvalidModel, 'aba', self.load, model=model)


if __name__ == '__main__':
    unittest.main()
