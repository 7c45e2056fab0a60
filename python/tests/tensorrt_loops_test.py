"""Loops and branches by layers: what goes round, what ends them, what is collected, one within another; beside NumPy."""
import numpy as np
from layers_case import Layers

import tenfold.tensorrt as trt

F = trt.DataType.FLOAT
SUM, PROD = trt.ElementWiseOperation.SUM, trt.ElementWiseOperation.PROD


class Loops(Layers):
    def check_on(self, add, *arrays, expected):
        """Of a new network: add(network, tensors) gives the layer."""
        self.network, self.arrays = self.builder.create_network(), {}
        inputs = [self.input(np.asarray(x), f'x{i}') for i, x in enumerate(arrays)]
        self.check(add(self.network, *inputs), expected)

    def random(self, *shape):
        return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)

    def count(self, net, n):
        return net.add_constant((), np.array(n, np.int32)).get_output(0)

    def scalar(self, net, value):
        return net.add_constant((), np.array(value, np.float32)).get_output(0)

    def plus(self, net, a, b, op=SUM):
        return net.add_elementwise(a, b, op).get_output(0)

    def test_count_with_last_value(self):
        """x doubled four times."""
        def add(net, x):
            loop = net.add_loop()
            loop.add_trip_limit(self.count(net, 4), trt.TripLimit.COUNT)
            value = loop.add_recurrence(x)
            value.set_input(1, self.plus(net, value.get_output(0), value.get_output(0)))
            self.assertIs(value.loop, loop)
            self.assertEqual(tuple(value.get_output(0).shape), (2, 3))
            return loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)
        x = self.random(2, 3)
        self.check_on(add, x, expected=16 * x)

    def test_running_sum_over_slices_in_all_arrangements(self):
        """Sums of rows so far; the collected ones along each axis, from the front and from the back."""
        x = self.random(5, 2, 3)
        for reverse in (False, True):
            sums = np.cumsum(x[::-1] if reverse else x, axis=0)
            for kind in (trt.LoopOutput.CONCATENATE, trt.LoopOutput.REVERSE):
                for axis in (0, 1, 2):
                    with self.subTest(reverse=reverse, kind=kind, axis=axis):
                        def add(net, x, reverse=reverse, kind=kind, axis=axis):
                            loop = net.add_loop()
                            loop.name = 'sums'
                            loop.add_trip_limit(self.count(net, 5), trt.TripLimit.COUNT)
                            each = loop.add_iterator(x, 0, reverse)
                            self.assertEqual((each.axis, each.reverse), (0, reverse))
                            zero = net.add_constant((2, 3), np.zeros((2, 3), np.float32)).get_output(0)
                            sum = loop.add_recurrence(zero)
                            next = self.plus(net, sum.get_output(0), each.get_output(0))
                            sum.set_input(1, next)
                            out = loop.add_loop_output(next, kind, axis)
                            out.set_input(1, self.count(net, 5))
                            self.assertEqual((out.kind, out.axis), (kind, axis))
                            return out
                        expected = sums if kind == trt.LoopOutput.CONCATENATE else sums[::-1]
                        self.check_on(add, x, expected=np.moveaxis(expected, 0, axis))

    def test_while_is_asked_before_each_round(self):
        """Doubles until the sum reaches 100; not once where it is there already."""
        def add(net, x):
            loop = net.add_loop()
            value = loop.add_recurrence(x)
            total = net.add_reduce(value.get_output(0), trt.ReduceOperation.SUM, 1, False).get_output(0)
            less = self.plus(net, total, self.scalar(net, 100), trt.ElementWiseOperation.LESS)
            loop.add_trip_limit(less, trt.TripLimit.WHILE)
            value.set_input(1, self.plus(net, value.get_output(0), value.get_output(0)))
            return loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)
        for first in (1, 30, 60):
            x = np.array([first, first], np.float32)
            expected = x.copy()
            while expected.sum() < 100:
                expected = expected * 2
            self.check_on(add, x, expected=expected)

    def test_both_limits_and_several_outputs(self):
        """Fibonacci: two recurrences, at most ten rounds, while below 50."""
        def add(net, x):
            loop = net.add_loop()
            loop.add_trip_limit(self.count(net, 10), trt.TripLimit.COUNT)
            a, b = loop.add_recurrence(x), loop.add_recurrence(x)
            loop.add_trip_limit(self.plus(net, a.get_output(0), self.scalar(net, 50), trt.ElementWiseOperation.LESS), trt.TripLimit.WHILE)
            a.set_input(1, b.get_output(0))
            b.set_input(1, self.plus(net, a.get_output(0), b.get_output(0)))
            last = loop.add_loop_output(a.get_output(0), trt.LoopOutput.LAST_VALUE)
            other = loop.add_loop_output(b.get_output(0), trt.LoopOutput.LAST_VALUE)
            return net.add_concatenation([net.add_unsqueeze(o.get_output(0), net.add_constant((1,), np.zeros(1, np.int64)).get_output(0))
                                          .get_output(0) for o in (last, other)])
        self.check_on(add, np.array(1, np.float32), expected=np.array([55, 89], np.float32))

    def test_a_recurrent_network(self):
        """h = tanh(x_t W + h R), as people write RNNs by hand; weights are from outside the loop."""
        x, w, r = self.random(6, 2, 3), self.random(3, 4), self.random(4, 4)

        def add(net, x):
            loop = net.add_loop()
            loop.add_trip_limit(self.count(net, 6), trt.TripLimit.COUNT)
            step = loop.add_iterator(x).get_output(0)
            h = loop.add_recurrence(net.add_constant((2, 4), np.zeros((2, 4), np.float32)).get_output(0))
            none = trt.MatrixOperation.NONE
            product = [net.add_matrix_multiply(a, none, net.add_constant(b.shape, b).get_output(0), none).get_output(0)
                       for a, b in ((step, w), (h.get_output(0), r))]
            next = net.add_activation(self.plus(net, *product), trt.ActivationType.TANH).get_output(0)
            next.name = 'state'
            h.set_input(1, next)
            return loop.add_loop_output(next, trt.LoopOutput.CONCATENATE)
        expected, h = [], np.zeros((2, 4), np.float32)
        for each in x:
            h = np.tanh(each @ w + h @ r)
            expected.append(h)
        self.check_on(add, x, expected=np.stack(expected))

    def test_a_loop_within_a_loop(self):
        """Rows times their number of rounds: the inner loop reads the outer one's slice and a value from outside of both."""
        def add(net, x):
            one = net.add_constant((3,), np.ones(3, np.float32)).get_output(0)
            outer = net.add_loop()
            outer.add_trip_limit(self.count(net, 4), trt.TripLimit.COUNT)
            row = outer.add_iterator(x).get_output(0)
            inner = net.add_loop()
            inner.add_trip_limit(self.count(net, 3), trt.TripLimit.COUNT)
            value = inner.add_recurrence(row)
            value.set_input(1, self.plus(net, self.plus(net, value.get_output(0), row), one))
            last = inner.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0)
            return outer.add_loop_output(last, trt.LoopOutput.CONCATENATE)
        x = self.random(4, 3)
        self.check_on(add, x, expected=4 * x + 3)

    def test_branches(self):
        def add(net, x, flag):
            branch = net.add_if_conditional()
            branch.set_condition(flag)
            inside = branch.add_input(x).get_output(0)
            doubled = self.plus(net, inside, inside)
            one = net.add_constant((1, 1), np.ones((1, 1), np.float32)).get_output(0)
            squared = self.plus(net, self.plus(net, inside, inside, PROD), one)
            first = branch.add_output(doubled, squared)
            second = branch.add_output(inside, x)
            self.assertIs(first.conditional, branch)
            return net.add_concatenation([first.get_output(0), second.get_output(0)])
        x = self.random(2, 3)
        for flag in (True, False):
            expected = 2 * x if flag else x * x + 1
            self.check_on(add, x, np.array(flag), expected=np.concatenate([expected, x]))

    def test_a_branch_within_a_loop(self):
        def add(net, x):
            loop = net.add_loop()
            loop.add_trip_limit(self.count(net, 4), trt.TripLimit.COUNT)
            value = loop.add_recurrence(x)
            now = value.get_output(0)
            branch = net.add_if_conditional()
            total = net.add_reduce(now, trt.ReduceOperation.SUM, 1, False).get_output(0)
            branch.set_condition(self.plus(net, total, self.scalar(net, 10), trt.ElementWiseOperation.LESS))
            inside = branch.add_input(now).get_output(0)
            value.set_input(1, branch.add_output(self.plus(net, inside, inside), inside).get_output(0))
            return loop.add_loop_output(now, trt.LoopOutput.LAST_VALUE)
        x = np.array([1, 2], np.float32)
        self.check_on(add, x, expected=4 * x)

    def test_layers_inside_stay_mutable(self):
        def add(net, x):
            loop = net.add_loop()
            limit = loop.add_trip_limit(self.count(net, 2), trt.TripLimit.COUNT)
            value = loop.add_recurrence(x)
            step = net.add_elementwise(value.get_output(0), value.get_output(0), SUM)
            value.set_input(1, step.get_output(0))
            out = loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)
            self.assertEqual(tuple(out.get_output(0).shape), (3,))
            step.op = PROD
            limit.set_input(0, self.count(net, 3))
            other = loop.add_recurrence(x)
            other.set_input(1, other.get_output(0))
            return out
        x = self.random(3)
        self.check_on(add, x, expected=x ** 8)

    def test_what_does_not_fit_is_told(self):
        for expected, act in (
                ('has no trip limit', lambda net, loop, v: v.set_input(1, v.get_output(0))),
                ('has no value for the next round', lambda net, loop, v: loop.add_trip_limit(self.count(net, 2), trt.TripLimit.COUNT)),
                ('a second trip limit', lambda net, loop, v: (v.set_input(1, v.get_output(0)), *(
                    loop.add_trip_limit(self.count(net, 2), trt.TripLimit.COUNT) for _ in range(2)))),
                ('a COUNT is an integer', lambda net, loop, v: (v.set_input(1, v.get_output(0)), loop.add_trip_limit(
                    net.add_constant((), np.array(True)).get_output(0), trt.TripLimit.COUNT)))):
            net = trt.Builder(self.logger).create_network()
            x = net.add_input('x', F, (3,))
            loop = net.add_loop()
            value = loop.add_recurrence(x)
            act(net, loop, value)
            out = loop.add_loop_output(value.get_output(0), trt.LoopOutput.LAST_VALUE)
            with self.assertRaisesRegex(ValueError, expected):
                net.mark_output(out.get_output(0))
                net._finalize()
        net = trt.Builder(self.logger).create_network()
        x = net.add_input('x', F, (3,))
        loop = net.add_loop()
        loop.add_trip_limit(self.count(net, 2), trt.TripLimit.COUNT)
        with self.assertRaisesRegex(ValueError, 'that of a recurrence of its loop'):
            loop.add_loop_output(x, trt.LoopOutput.LAST_VALUE).get_output(0).shape
        branch = net.add_if_conditional()
        with self.assertRaisesRegex(ValueError, 'has 0 conditions'):
            branch.add_output(x, x).get_output(0).shape


if __name__ == '__main__':
    import unittest
    unittest.main()
