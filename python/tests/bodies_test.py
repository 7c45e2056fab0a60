"""Branches and loops of tenfold.Network, whose bodies are functions. The truth is ONNX Runtime's, on the same graph
written as ONNX text. They run on TENFOLD_DEVICE, where that is set."""
import os
import unittest

import numpy as np
import onnxruntime
from case import Case, onnx

import tenfold

QUICK = dict(device=os.environ['TENFOLD_DEVICE'], optimization_level=0)
WEIGHTS = np.random.default_rng(3).standard_normal((4, 4)).astype(np.float32)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Bodies(Case):
    def beside(self, text, net, *feeds):
        """All outputs of the ONNX graph, which is given as text, and of the network, for each of these feeds."""
        model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]>\n' + text)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        engine = tenfold.build(net, **QUICK)
        names = [output.name for output in session.get_outputs()]
        for feed in feeds:
            found = engine(feed)
            for name, expected in zip(names, session.run(None, feed), strict=True):
                array = found if len(names) == 1 else found[name]
                self.assertEqual(array.shape, expected.shape)
                self.near(array, expected)


class Branches(Bodies):
    def test_values_around_are_used(self):
        net = tenfold.Network()
        flag, x = net.input('flag', 'bool', []), net.input('x', 'f32', [2, 4])
        twice = x * 2.0
        a, b = net.If(flag, lambda n: (n.MatMul(twice, WEIGHTS), x), lambda n: (-x, n.Tanh(x) + twice))
        net.output(a, 'a'), net.output(b, 'b')
        self.beside('''g (bool flag, float[2,4] x) => (float[2,4] a, float[2,4] b) {
              two = Constant <value_float = 2.0> ()
              twice = Mul(x, two)
              a, b = If (flag) <
                then_branch = t () => (float[2,4] p, float[2,4] q) { w = Constant <value = float[4,4] {%s}> ()  p = MatMul(twice, w)
                                                                     q = Identity(x) },
                else_branch = e () => (float[2,4] p, float[2,4] q) { p = Neg(x)  s = Tanh(x)  q = Add(s, twice) }>
            }''' % ', '.join(repr(float(w)) for w in WEIGHTS.ravel()), net,
                    *({'flag': np.array(yes), 'x': numbers(2, 4)} for yes in (True, False)))

    def test_one_in_another(self):
        net = tenfold.Network()
        x = net.input('x', 'f32', [3])
        total = net.ReduceSum(x, keepdims=0)

        def small(n):
            return n.If(n.Less(total, np.float32(-1)), lambda m: m.Abs(x), lambda m: x + 1.0)
        net.output(net.If(net.Greater(total, np.float32(1)), lambda n: -x, small), 'y')
        self.beside('''g (float[3] x) => (float[3] y) {
              one = Constant <value_float = 1.0> ()
              minus = Constant <value_float = -1.0> ()
              total = ReduceSum <keepdims = 0> (x)
              large = Greater(total, one)
              y = If (large) <
                then_branch = t () => (float[3] r) { r = Neg(x) },
                else_branch = e () => (float[3] r) {
                  less = Less(total, minus)
                  r = If (less) <then_branch = u () => (float[3] s) { s = Abs(x) }, else_branch = v () => (float[3] s) { s = Add(x, one) }>
                }>
            }''', net, *({'x': np.array(x, np.float32)} for x in ([1, 2, 3], [-1, -2, 3], [.5, 0, .1], [-1, -2, -3])))


class Loops(Bodies):
    def test_counted_and_collected(self):
        net = tenfold.Network()
        x, count = net.input('x', 'f32', [4]), net.input('count', 'i64', [])

        def body(n, i, go_on, total):
            total = total + n.Cast(i, to=1) * x
            return go_on, total, n.ReduceMax(total, keepdims=0)
        last, most = net.Loop(count, None, np.ones(4, np.float32), body)
        net.output(last, 'last'), net.output(most, 'most')
        self.beside('''g (float[4] x, int64 count) => (float[4] last, float[n] most) {
              start = Constant <value = float[4] {1, 1, 1, 1}> ()
              last, most = Loop (count, , start) <body = b (int64 i, bool go, float[4] total) => (bool on, float[4] next, float m) {
                on = Identity(go)  f = Cast <to = 1> (i)  p = Mul(f, x)  next = Add(total, p)  m = ReduceMax <keepdims = 0> (next) }>
            }''', net, *({'x': numbers(4), 'count': np.array(n)} for n in (5, 1, 0)))

    def test_while_a_condition_holds(self):
        net = tenfold.Network()
        x = net.input('x', 'f32', [2])

        def halve(n, i, go_on, value):
            value = value / 2.0
            return n.Greater(n.ReduceMax(value, keepdims=0), np.float32(1)), value
        net.output(net.Loop(None, True, x, halve), 'y')
        self.beside('''g (float[2] x) => (float[2] y) {
              yes = Constant <value = bool {1}> ()
              y = Loop (, yes, x) <body = b (int64 i, bool go, float[2] v) => (bool on, float[2] next) {
                two = Constant <value_float = 2.0> ()  one = Constant <value_float = 1.0> ()
                next = Div(v, two)  most = ReduceMax <keepdims = 0> (next)  on = Greater(most, one) }>
            }''', net, *({'x': np.array(x, np.float32)} for x in ([100, 3], [-5, .5], [1e6, 0])))

    def test_shapes_that_grow(self):
        """The function is called again with the wider type, and must do the same."""
        net, calls = tenfold.Network(), []
        x = net.input('x', 'f32', [2])

        def body(n, i, go_on, grown):
            calls.append(grown.dims)
            return go_on, n.Concat(grown, x, axis=0)
        net.output(net.Loop(3, None, x, body), 'y')
        self.assertGreater(len(calls), 1)
        self.assertEqual(calls[0], (2,))
        self.assertIsInstance(calls[-1][0], str)
        engine = tenfold.build(net, **QUICK)
        self.near(engine(np.array([1, 2], np.float32)), [1, 2] * 4)

    def test_branch_in_loop_in_branch(self):
        net = tenfold.Network()
        flag, x = net.input('flag', 'bool', []), net.input('x', 'f32', [2])
        weight = net.constant(np.array([3, 4], np.float32), 'weight')

        def looped(n):
            scaled = x * weight

            def body(m, i, go_on, value):
                odd = m.Equal(m.Mod(i, np.int64(2)), np.int64(1))
                return go_on, m.If(odd, lambda k: value + scaled, lambda k: k.Mul(value, weight))
            return n.Loop(4, None, x, body)
        net.output(net.If(flag, looped, lambda n: x), 'y')
        engine = tenfold.build(net, **QUICK)
        for yes in (True, False):
            v, w = np.array([1, -2], np.float32), np.array([3, 4], np.float32)
            expected = v
            for i in range(4 if yes else 0):
                expected = expected + v * w if i % 2 else expected * w
            self.near(engine(np.array(yes), v), expected)


class Scans(Bodies):
    def test_a_recurrent_cell(self):
        net = tenfold.Network()
        x = net.input('x', 'f32', [3, 5, 4])

        def cell(n, state, row):
            state = n.Tanh(state @ WEIGHTS + row)
            return state, state
        last, states = net.Scan(np.zeros((3, 4), np.float32), x, cell, scan_input_axes=[1], scan_output_axes=[1],
                                scan_input_directions=[1])
        net.output(last, 'last'), net.output(states, 'all')
        self.beside('''g (float[3,5,4] x) => (float[3,4] last, float[3,5,4] all) {
              start = Constant <value = float[3,4] {%s}> ()
              w = Constant <value = float[4,4] {%s}> ()
              last, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], scan_input_directions = [1],
                                body = b (float[3,4] s, float[3,4] v) => (float[3,4] next, float[3,4] out) {
                p = MatMul(s, w)  q = Add(p, v)  next = Tanh(q)  out = Identity(next) }> (start, x)
            }''' % (', '.join(['0'] * 12), ', '.join(repr(float(w)) for w in WEIGHTS.ravel())), net, {'x': numbers(3, 5, 4)})


class Walking(Case):
    def test_nodes_have_bodies(self):
        net = tenfold.Network()
        x = net.input('x', 'f32', [2])
        net.output(net.Loop(3, None, x, lambda n, i, go_on, v: (go_on, n.Exp(v) + x)), 'y')
        (loop,) = [node for node in net if node.op == 'Loop']
        (body,) = loop.bodies
        self.assertEqual([node.op for node in body], ['Exp', 'Add'])
        self.assertEqual([v.dtype for v in body.inputs], ['i64', 'bool', 'f32', 'f32'])   # the last is x, which it captures
        self.assertEqual(len(body.outputs), 2)
        self.assertEqual(body.outputs[1].producer.op, 'Add')
        self.assertIn('Exp', str(net))
        self.assertEqual([node.bodies for node in net if node.op != 'Loop'], [[] for node in net if node.op != 'Loop'])
        for change in (lambda: body.Exp(body.inputs[2]), lambda: body.nodes[0].remove(), lambda: tenfold.build(body, **QUICK),
                       lambda: body.constant(np.zeros(2, np.float32))):
            self.refused(tenfold.InvalidArgument, "a copy of a node's body", change)

    def test_bodies_of_a_file(self):
        text = '''<ir_version: 10, opset_import: ["" : 21]> g (bool c, float[2] x) => (float[2] y) {
          y = If (c) <then_branch = t () => (float[2] r) { r = Exp(x) }, else_branch = e () => (float[2] r) { r = Neg(x) }> }'''
        net = tenfold.Network.read(onnx.parser.parse_model(text))
        (node,) = [n for n in net if n.op == 'If']
        self.assertEqual([[n.op for n in body] for body in node.bodies], [['Exp'], ['Neg']])


class Refused(Case):
    def setUp(self):
        super().setUp()
        self.net = tenfold.Network()
        self.flag, self.x = self.net.input('flag', 'bool', []), self.net.input('x', 'f32', [2])

    def branch(self, kind, words, body):
        self.refused(kind, words, self.net.If, self.flag, lambda n: n.Exp(self.x), body)

    def test_what_a_body_returns(self):
        self.branch(tenfold.InvalidArgument, 'return 1 and 2 results', lambda n: (self.x, self.x))
        self.branch(tenfold.InvalidArgument, ['f32[2] on one path', 'f16[2]'], lambda n: n.Cast(self.x, to=10))
        self.branch(TypeError, 'None found', lambda n: None)
        self.branch(TypeError, '1.5 found', lambda n: 1.5)
        self.branch(TypeError, 'a body of If is a function', 5)
        self.refused(tenfold.InvalidArgument, '2 values are carried', self.net.Loop, 3, None, [self.x, self.x],
                     lambda n, i, go_on, a, b: (go_on, a))
        self.refused(TypeError, 'positional', self.net.Loop, 3, None, self.x, lambda n, i: n.Exp(self.x))
        self.refused(tenfold.InvalidArgument, 'never end', self.net.Loop, None, None, self.x, lambda n, i, go_on, v: (go_on, v))
        self.refused(tenfold.InvalidArgument, "no attribute 'axis'", self.net.Scan, [], self.x, lambda n, v: v, axis=1)
        self.refused(tenfold.InvalidArgument, 'out of range', self.net.Scan, [], self.x, lambda n, v: v, scan_input_axes=[1])

    def test_strangers(self):
        other = tenfold.Network()
        self.branch(tenfold.InvalidArgument, 'another network', lambda n: n.Exp(other.input('x', 'f32', [2])))
        kept = []
        self.net.If(self.flag, lambda n: kept.extend([n, n.Exp(self.x)]) or kept[1], lambda n: self.x)
        self.refused(tenfold.InvalidArgument, 'gives its own to nobody', self.net.Exp, kept[1])
        self.refused(tenfold.InvalidArgument, 'the body is complete', kept[0].Exp, self.x)
        self.refused(tenfold.InvalidArgument, 'the body is complete', lambda: kept[1].dims)

    def test_an_exception_comes_out_as_it_was_raised(self):
        def fails(n):
            raise KeyError('mine')
        self.refused(KeyError, 'mine', self.net.If, self.flag, fails, lambda n: self.x)
        self.assertEqual([node.op for node in self.net], [])
        self.net.output(self.x + 1.0, 'y')   # arithmetic is the network's again
        self.near(tenfold.build(self.net, **QUICK)({'flag': np.array(True), 'x': np.ones(2, np.float32)}), [2, 2])

    def test_no_edits_meanwhile(self):
        node = self.net.Exp(self.x).producer
        self.branch(tenfold.InvalidArgument, 'a body is being made', lambda n: node.remove() or self.x)
        node.remove()


if __name__ == '__main__':
    unittest.main()
