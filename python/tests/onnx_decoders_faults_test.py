"""ONNX files that tenfold.Decoder refuses: one message each, which names what was found and what to do."""
import json
import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tenfold
from case import Case
from decoders_case import LAYERS, QUICK, VOCABULARY, WIDTH
from onnx_decoders_case import Graph, OnnxDecoder

Unsupported, InvalidModel = tenfold.Unsupported, tenfold.InvalidModel
InvalidArgument, FileError = tenfold.InvalidArgument, tenfold.FileError


def rename(old, new):
    def change(model):
        for one in [*model.graph.input, *model.graph.output]:
            one.name = new if one.name == old else one.name
        for node in model.graph.node:
            node.input[:] = [new if name == old else name for name in node.input]
            node.output[:] = [new if name == old else name for name in node.output]
    return change


def drop_output(name):
    def change(model):
        kept = [one for one in model.graph.output if one.name != name]
        del model.graph.output[:]
        model.graph.output.extend(kept)
    return change


def maker(model, result):
    return next(node for node in model.graph.node if result in node.output)


def add_input(name, dtype, dims, used=True):
    """An input that is added to what becomes logits."""
    def change(model):
        model.graph.input.append(helper.make_tensor_value_info(name, dtype, dims))
        product = maker(model, maker(model, 'logits').input[0])
        if used:
            model.graph.node.insert(list(model.graph.node).index(product), helper.make_node('Add', [product.input[0], name], ['added']))
            product.input[0] = 'added'
    return change


def new_rows_in_front(model):
    concat = maker(model, maker(model, 'present.1.key').input[0])
    concat.input[:] = reversed(concat.input)


def two_caches(path, dims_of):
    """A file with two caches of [batch, heads, tokens, size], and none that reads them."""
    g = Graph()
    ids = g.input('input_ids', ['b', 's'])
    rows = g('Gather', np.ones((VOCABULARY, 24)), ids)
    for i, (heads, size) in enumerate(dims_of):
        past = g.input(f'past_key_values.0.{i}', ['b', heads, 'p', size], TensorProto.FLOAT)
        own = g('Transpose', g('Reshape', g('Slice', rows, [0], [heads * size], [2]), [0, 0, heads, size]), perm=[0, 2, 1, 3])
        g.output(g('Concat', past, own, axis=2), f'present.0.{i}', ['b', heads, 't', size])
    g.output(g('MatMul', rows, np.ones((24, VOCABULARY))), 'logits', ['b', 's', VOCABULARY])
    onnx.save(g.model(), path)


def mask_of_distance(model):
    """Scores fall with the distance of keys, as ALiBi has it: no mask."""
    mask = next(node for node in model.graph.node if node.op_type == 'Where')
    result = mask.output[0]
    mask.output[0] = 'plain mask'
    at = list(model.graph.node).index(mask) + 1
    model.graph.initializer.append(numpy_helper.from_array(np.array(-1, np.int64), 'last axis'))
    model.graph.initializer.append(numpy_helper.from_array(np.array(0, np.int64), 'from'))
    model.graph.initializer.append(numpy_helper.from_array(np.array(1, np.int64), 'by'))
    for i, node in enumerate([helper.make_node('Shape', ['attention_mask'], ['lengths']),
                              helper.make_node('Gather', ['lengths', 'last axis'], ['length']),
                              helper.make_node('Range', ['from', 'length', 'by'], ['columns']),
                              helper.make_node('Cast', ['columns'], ['distances'], to=TensorProto.FLOAT),
                              helper.make_node('Add', ['plain mask', 'distances'], [result])]):
        model.graph.node.insert(at + i, node)


class Faults(Case):
    def load(self, kind='gpt2', form='concat', change=None, before=lambda truth: None, path=lambda truth: truth.folder, **options):
        truth = OnnxDecoder(self.path(f'{kind} {form}'), kind, form, change=change)
        before(truth)
        return tenfold.Decoder(path(truth), **{**QUICK, **options})

    def refused(self, error, pattern, **how):
        with self.subTest(pattern):
            with self.assertRaisesRegex(error, pattern) as raised:
                self.load(**how).prepare()
            self.assertNotIn('\n', str(raised.exception).strip())

    def test_bindings(self):
        self.refused(Unsupported, r"'past_key_values.1.value' f32.* is read by node '.*' \(Concat\), but no output continues it",
                     change=drop_output('present.1.value'))
        self.refused(InvalidModel, "no input 'input_ids'; the file has tokens", change=rename('input_ids', 'tokens'))
        self.refused(Unsupported, "takes 'inputs_embeds', not tokens", change=rename('input_ids', 'inputs_embeds'))
        self.refused(Unsupported, "two branches, which 'use_cache_branch' chooses",
                     change=add_input('use_cache_branch', TensorProto.BOOL, [1], False))
        self.refused(Unsupported, r"the inputs 'speaker' f32\[24\], which are not known",
                     change=add_input('speaker', TensorProto.FLOAT, [WIDTH]))
        self.refused(InvalidModel, "no output 'logits'; beside its caches it has none", change=drop_output('logits'))
        self.refused(Unsupported, "'past_key_values.1.key' f32.* no output continues it along axis 2", change=new_rows_in_front)

    def test_other_ways_of_scattering(self):
        def mode(op, **attributes):
            def change(model):
                for node in model.graph.node:
                    if node.op_type == op:
                        node.attribute.extend(helper.make_attribute(*one) for one in attributes.items())
            return change

        pattern = r"'past_key_values.0.key' f32.* \(%s\), but no output continues it"
        self.refused(Unsupported, pattern % 'TensorScatter', form='attention 24', change=mode('TensorScatter', mode='circular'))
        self.refused(Unsupported, pattern % 'ScatterElements', form='scatter', change=mode('ScatterElements', reduction='add'))

    def test_caches_that_are_written_around(self):
        def ring(length):
            def change(model):
                model.graph.initializer.append(numpy_helper.from_array(np.array(length, np.int64), 'ring'))
                for node in model.graph.node:
                    if node.op_type == 'ScatterElements':
                        maker(model, maker(model, node.input[1]).input[0]).input[0] = 'places in the ring'
                model.graph.node.insert(0, helper.make_node('Mod', ['cache_position', 'ring'], ['places in the ring']))
            return change

        self.refused(Unsupported, r"node '.*' \(ScatterElements\) continues 'past_key_values.0.key' at place 55 where it holds 255 tokens",
                     form='scatter', change=ring(100))
        self.load(form='scatter', change=ring(256)).prepare()   # as long as the context: never around

        def fixed_start(model):
            model.graph.initializer.append(numpy_helper.from_array(np.array([2], np.int64), 'fixed'))
            for node in model.graph.node:
                if node.op_type == 'TensorScatter':
                    node.input[2] = 'fixed'

        self.refused(Unsupported, r"\(TensorScatter\) continues 'past_key_values.0.key' at place 2 where it holds 5 tokens",
                     form='attention 24', change=fixed_start)

    def test_kinds_of_inputs(self):
        def mask_of_floats(model):
            one = next(one for one in model.graph.input if one.name == 'attention_mask')
            one.type.tensor_type.elem_type = TensorProto.FLOAT

        self.refused(Unsupported, r"'cache_position' is i64\[b,s\]; integers of rank 1 were expected",
                     change=add_input('cache_position', TensorProto.INT64, ['b', 's'], False))
        self.refused(Unsupported, "'attention_mask' is f32.*; integers of rank 2 were expected", change=mask_of_floats)

    def test_fixed_shapes(self):
        def fix(axis, extent):
            def change(model):
                for one in model.graph.input:
                    dims = one.type.tensor_type.shape.dim
                    if axis < len(dims) and dims[axis].dim_param == ('batch_size', 'sequence_length')[axis]:
                        dims[axis].dim_value = extent
            return change

        self.refused(Unsupported, 'made for runs of 4 tokens; export it with a dynamic sequence length', change=fix(1, 4))
        self.refused(Unsupported, 'made for 1 sequences at once, but max_batch is 2', change=fix(0, 1), max_batch=2)
        self.refused(Unsupported, 'made for 3 sequences at once; export it', change=fix(0, 3), max_batch=3)
        alone = self.load(change=fix(0, 1))
        truth = OnnxDecoder(self.path('gpt2 concat'), 'gpt2')
        self.assertEqual(alone.generate([1, 2, 3], max_tokens=20, ignore_end=True).ids, truth.greedy([1, 2, 3], 20))

    def test_a_file_without_a_cache(self):
        def change(model):
            for i in range(LAYERS):
                for part in ('key', 'value'):
                    drop_output(f'present.{i}.{part}')(model)
                    past = f'past_key_values.{i}.{part}'
                    next(node for node in model.graph.node if past in node.input and node.op_type == 'Concat').input.remove(past)
            shape = next(node for node in model.graph.node if 'past_key_values.0.key' in node.input)
            shape.input[0] = 'none'
            model.graph.initializer.append(numpy_helper.from_array(np.zeros((1, 1, 0, 1), np.float32), 'none'))
            kept = [one for one in model.graph.input if not one.name.startswith('past')]
            del model.graph.input[:]
            model.graph.input.extend(kept)
        self.refused(InvalidModel, 'no input is a cache.*text-generation-with-past', change=change)

    def test_sizes(self):
        for dims, pattern in ((((2, 4), (3, 4)), "'past_key_values.0.1' has 3 heads of 4 in f32, but 'past_key_values.0.0' 2 heads of 4"),
                              (((2, 4), (2, 6)), '2 heads of 6 in f32'), (((2, 4),), "it has 1 caches, the last one 'past_key_values.0.0'"),
                              (((2, 4),) * 3, 'it has 3 caches')):
            self.refused(InvalidModel if len(dims) % 2 else Unsupported, pattern,
                         before=lambda truth, d=dims: (os.remove(truth.path('config.json')), two_caches(truth.path('model.onnx'), d)))
        self.refused(InvalidArgument, 'max_length is 300, but the model has places for 256', max_length=300)
        self.refused(InvalidArgument, r"places for 256 tokens \('constant .*' has so many\)", max_length=300,
                     before=lambda truth: truth.save('config.json', {**truth.config, 'n_positions': 5000}))
        for key, value, pattern in (('n_layer', 7, 'has 7 layers, but the file has 3'),
                                    ('num_key_value_heads', 2, '2 heads of keys and values, but'),
                                    ('head_dim', 7, '7 elements in a head, but the file has 6'), ('n_positions', -1, 'n_positions'),
                                    ('eos_token_id', 'end', 'eos_token_id')):
            self.refused(InvalidModel, pattern, before=lambda truth, k=key, v=value: truth.save('config.json', {**truth.config, k: v}))
        decoder = self.load(max_length=16)
        with self.assertRaisesRegex(InvalidArgument, 'sequence 0 would have 17 tokens, but max_length is 16'):
            decoder.start().append([[1] * 17])
        with self.assertRaisesRegex(InvalidArgument, f'the model has tokens 0 to {VOCABULARY - 1}'):
            decoder.generate([VOCABULARY])

    def test_what_lies_beside_the_file(self):
        def remove(name):
            return lambda truth: os.remove(truth.path(name))

        def named(name):
            def write(truth):
                with open(truth.path('genai_config.json'), 'w') as file:
                    json.dump({'model': {'decoder': {'filename': name}}}, file)
            return write

        self.refused(FileError, r"has no tokenizer \(tokenizer.json\) beside 'model.onnx'", before=remove('tokenizer.json'))
        self.refused(FileError, "other.onnx' is missing", before=named('other.onnx'))
        self.refused(InvalidModel, "the filename '../model.onnx' of model.decoder is no name", before=named('../model.onnx'))
        self.refused(FileError, "none.onnx' is missing", path=lambda truth: truth.path('none.onnx'))
        os.remove(os.path.join(self.path('gpt2 concat'), 'genai_config.json'))

        def cut(truth):
            with open(truth.path('model.onnx'), 'r+b') as file:
                file.truncate(1000)
        self.refused(InvalidModel, 'model.onnx', before=cut)

        def twice(truth):
            os.rename(truth.path('model.onnx'), truth.path('a.onnx'))
            with open(truth.path('b.onnx'), 'wb') as file:
                file.write(b'')
        self.refused(InvalidArgument, "several ONNX files and none is called model.onnx; name one of them, as '.*a.onnx'", before=twice)
        self.assertEqual(self.load(before=twice, path=lambda truth: truth.path('a.onnx')).info.architecture, 'gpt2')
        os.remove(os.path.join(self.path('gpt2 concat'), 'a.onnx'))
        os.remove(os.path.join(self.path('gpt2 concat'), 'b.onnx'))

    def test_a_folder_of_its_own_for_the_file(self):
        def move(truth):
            os.mkdir(truth.path('onnx'))
            os.rename(truth.path('model.onnx'), truth.path('onnx/model.onnx'))

        decoder = self.load(before=move)
        self.assertEqual((decoder.info.architecture, decoder.info.tokenizer_folder), ('gpt2', self.path('gpt2 concat')))
        again = tenfold.Decoder(os.path.join(self.path('gpt2 concat'), 'onnx', 'model.onnx'), **QUICK)
        self.assertEqual((again.info.architecture, again.info.end_tokens), ('gpt2', [0]))
        self.assertEqual(again.generate('the cat', max_tokens=5).ids, decoder.generate('the cat', max_tokens=5).ids)

    def test_shapes_alone_are_enough(self):
        """Without configurations: no architecture's name, no tokens that end a text, and places as many as tables have rows."""
        info = self.load(before=lambda truth: os.remove(truth.path('config.json'))).info
        self.assertEqual((info.architecture, info.layers, info.max_length, info.end_tokens), ('onnx', LAYERS, 256, []))

    def test_lengths_that_cannot_be_told_apart(self):
        told = []
        alone = self.load('llama', change=mask_of_distance, log=lambda severity, text: told.append(text))
        self.assertIn('neither positions nor a causal mask', '\n'.join(told))
        self.assertEqual(len(alone.generate([1, 2, 3], max_tokens=4, ignore_end=True).ids), 4)
        self.refused(Unsupported, r'operand 1 of node .*\(Add\).* set max_batch to 1', kind='llama', change=mask_of_distance, max_batch=2)


if __name__ == '__main__':
    unittest.main()
