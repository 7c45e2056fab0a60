#!/usr/bin/env python3
"""tenfold check: all that is wrong with a model at once, without a build. cli_check_test.py TENFOLD"""

import json
import os
import pathlib

import cli_case
from cli_case import FLOAT, CliCase, TensorProto, helper, make_model, np, numpy_helper, save_model

LIBRARY = os.environ.get('TENFOLD_PLUGIN_SNAKE', '')
SNAKE = pathlib.Path(__file__).parent.parent / 'examples' / 'snake.onnx'
RUN_FAILED, USAGE, MODEL_INVALID = 1, 2, 3


class Check(CliCase):
    def check(self, model, *flags, code=0):
        return self.tenfold('check', str(model), *flags, code=code).stdout

    def faulty(self):
        """Five things wrong with five nodes, one of them in a body, one without a name."""
        float_value = helper.make_tensor_value_info
        body = helper.make_graph([helper.make_node('Nonsense', ['x'], ['z'], name='inner')], 'then', [], [float_value('z', FLOAT, None)])
        other = helper.make_graph([helper.make_node('Identity', ['x'], ['z2'])], 'else', [], [float_value('z2', FLOAT, None)])
        nodes = [
            helper.make_node('Frobnicate', ['x'], ['a'], name='first'),
            helper.make_node('Softmax', ['x'], ['b'], name='second', axis=7),
            helper.make_node('Relu', ['x'], ['c'], name='third', split=[1, 2]),
            helper.make_node('Frobnicate', ['x'], ['d']),
            helper.make_node('If', ['yes'], ['e'], name='if', then_branch=body, else_branch=other),
            helper.make_node('Relu', ['x'], ['y']),
        ]
        inputs = [('x', FLOAT, [2, 3]), ('yes', cli_case.TensorProto.BOOL, [])]
        return self.write('faulty.onnx', make_model(nodes, inputs, [('y', FLOAT, [2, 3])]).SerializeToString())

    def test_everything_at_once(self):
        reported = self.check(self.faulty(), code=MODEL_INVALID)
        self.assertIn('faulty.onnx: 5 problems', reported)
        for part in ("'first' (Frobnicate, opset 21)", "'second' (Softmax", "'third' (Relu", '-> d', 'if/then_branch/inner'):
            self.assertIn(part, reported)
        self.assertEqual(len(reported.splitlines()), 6, reported)

    def test_as_data(self):
        problems = json.loads(self.check(self.faulty(), '--json', code=MODEL_INVALID))
        self.assertEqual([p['operator'] for p in problems], ['Frobnicate', 'Softmax', 'Relu', 'Frobnicate', 'Nonsense'])
        self.assertEqual([p['kind'] for p in problems], ['unsupported', 'invalid_model', 'invalid_model', 'unsupported', 'unsupported'])
        self.assertTrue(all(p['message'] and p['opset'] == 21 for p in problems))
        self.assertEqual(problems[3]['outputs'], ['d'])

    def test_a_list_that_ends(self):
        nodes = [helper.make_node('Frobnicate', ['x'], [f'r{i}']) for i in range(1040)] + [helper.make_node('Relu', ['x'], ['y'])]
        proto = make_model(nodes, [('x', FLOAT, [2, 3])], [('y', FLOAT, [2, 3])])
        model = self.write('many.onnx', proto.SerializeToString())
        reported = self.check(model, code=MODEL_INVALID).splitlines()
        self.assertIn('many.onnx: 1040 problems', reported[0])
        self.assertEqual((len(reported), reported[-1].strip()), (1002, 'and 40 more'))
        problems = json.loads(self.check(model, '--json', code=MODEL_INVALID))
        self.assertEqual((len(problems), problems[-1]['more'], 'more' in problems[0]), (1001, 40, False))

    def test_sound_ones(self):
        self.assertIn('valid and supported', self.check(self.model))
        self.assertEqual(json.loads(self.check(self.model, '--json')), [])

    def test_nothing_can_be_said(self):
        self.refused(RUN_FAILED, 'no.onnx', 'check', self.path('no.onnx'))
        self.refused(USAGE, 'takes one model, 2 given', 'check', self.model, self.model)
        self.check(self.write('text.onnx', b'hello'), code=MODEL_INVALID)

    def test_what_shapes_may_decide_says_how_to_give_them(self):
        """As exporters write squeeze(): the extent decides the rank."""
        node, info = helper.make_node, helper.make_tensor_value_info
        one = lambda name, op, *inputs: helper.make_graph([node(op, [*inputs], [name])], name, [], [info(name, FLOAT, None)])
        model = save_model(
            self.path('open.onnx'),
            [node('Shape', ['x:0'], ['s'], start=1), node('Equal', ['s', 'one'], ['e']), node('Squeeze', ['e'], ['c']),
             node('If', ['c'], ['i'], then_branch=one('t', 'Squeeze', 'x:0', 'one'), else_branch=one('u', 'Identity', 'x:0')),
             node('Shape', ['i'], ['y'])],
            [('x:0', FLOAT, ['batch', 'n']), ('k', FLOAT, [2])], [('y', TensorProto.INT64, None)],
            [numpy_helper.from_array(np.array([1]), 'one')])
        output = self.check(model, code=3)
        self.assertIn('1 problem, which the shapes of inputs may decide: check it again with --shapes', output)
        self.assertIn("the shapes of inputs may decide this: 'x:0' [batch,n], 'k' [2]; give extents for those with names, such as "
                      "--shapes='x:0':1x1, or --minShapes", output)
        self.assertNotIn('config', output)

    def test_plugins_are_operators(self):
        reported = self.check(SNAKE, code=MODEL_INVALID)
        self.assertIn('Snake', reported)
        self.assertIn('com.example', reported)
        self.assertIn('valid and supported', self.check(SNAKE, f'--plugins={LIBRARY}'))
        bad = make_model([helper.make_node('Snake', ['x', 'x'], ['y'], domain='com.example', name='two')], [('x', FLOAT, [2, 4])],
                         [('y', FLOAT, [2, 4])])
        bad.opset_import.append(helper.make_opsetid('com.example', 1))
        reported = self.check(self.write('bad.onnx', bad.SerializeToString()), f'--plugins={LIBRARY}', code=MODEL_INVALID)
        self.assertIn("'two' (com.example.Snake", reported)

    def test_shapes_and_optional_inputs_as_a_build_has_them(self):
        self.refused(USAGE, "the model's inputs are", 'check', self.model, '--shapes=z:1x6')
        weight = numpy_helper.from_array(np.zeros((6, 4), np.float32), 'w')
        optional = make_model([helper.make_node('MatMul', ['x', 'w'], ['y'])], [('x', FLOAT, [2, 6]), ('w', FLOAT, [6, 4])],
                              [('y', FLOAT, [2, 4])], [weight])
        model = self.write('o.onnx', optional.SerializeToString())
        self.assertIn('valid and supported', self.check(model, '--overridable'))
        self.refused(USAGE, "'v' is to be overridable", 'check', model, '--overridable=v')


if __name__ == '__main__':
    cli_case.main()
