"""tenfold.tensorrt's IAlgorithmSelector: what may be taken is taken, recorded and taken again."""
import unittest

from case import Case
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


class Selecting(Case):
    def build(self, selector, level=1, reject=False):
        self.logger = Lines()
        builder, network, config = tanh_build(self.logger, level)
        config.algorithm_selector = selector
        if reject:
            config.set_flag(trt.BuilderFlag.REJECT_EMPTY_ALGORITHMS)
        return builder.build_engine(network, config)

    def test_what_was_taken_is_taken_again(self):
        class Slowest(trt.IAlgorithmSelector):
            def select_algorithms(self, context, choices):
                return [max(range(len(choices)), key=lambda i: choices[i].timing_msec)]

            def report_algorithms(self, contexts, choices):
                self.taken = {c.problem: a.algorithm_variant for c, a in zip(contexts, choices, strict=True)}
                self.names = [a.tactic_name for a in choices]
        slow = Slowest()
        engine = self.build(slow)
        self.assertIsNotNone(engine, self.logger.errors)
        self.assertTrue(slow.taken)

        class Again(trt.IAlgorithmSelector):
            def select_algorithms(self, context, choices):
                expected = slow.taken.get(context.problem)
                found = [i for i, a in enumerate(choices) if a.algorithm_variant == expected]
                assert expected is None or found, (context, choices)
                return found or range(len(choices))

            def report_algorithms(self, contexts, choices):
                self.taken = {c.problem: a.algorithm_variant for c, a in zip(contexts, choices, strict=True)}
        for _ in range(5):   # times decide whether the same problems come up: a fused node, or its parts
            again = Again()
            self.assertIsNotNone(self.build(again), self.logger.errors)
            both = slow.taken.keys() & again.taken.keys()
            self.assertEqual({p: again.taken[p] for p in both}, {p: slow.taken[p] for p in both})
            if both:
                break
        self.assertTrue(both)

    def test_layers_that_vanish_are_told_with_no_time(self):
        class All(trt.IAlgorithmSelector):
            def report_algorithms(self, contexts, choices):
                self.reported = {c.name: a.timing_msec for c, a in zip(contexts, choices, strict=True)}
        selector, logger = All(), Lines()
        network = trt.Builder(logger).create_network()
        x = network.add_identity(network.add_input('x', trt.float32, (2, 3)))
        x.name = 'same'
        network.mark_output(network.add_activation(x.get_output(0), trt.ActivationType.RELU).get_output(0))
        config = network.builder.create_builder_config()
        config.algorithm_selector, config.builder_optimization_level = selector, 1
        self.assertIsNotNone(network.builder.build_engine(network, config), logger.errors)
        self.assertEqual({name: ms for name, ms in selector.reported.items() if name.startswith('same')}, {'same': 0})
        self.assertTrue(all(ms > 0 for name, ms in selector.reported.items() if name != 'same'), selector.reported)

    def test_nothing_left(self):
        class Nothing(trt.IAlgorithmSelector):
            def select_algorithms(self, context, choices):
                return []
        self.assertIsNotNone(self.build(Nothing()))
        self.assertIsNone(self.build(Nothing(), reject=True))
        self.assertIn('REJECT_EMPTY_ALGORITHMS', self.logger.errors[-1])

    def test_faults(self):
        class Wrong(trt.IAlgorithmSelector):
            def select_algorithms(self, context, choices):
                return [len(choices)]

        class Raises(trt.IAlgorithmSelector):
            def select_algorithms(self, context, choices):
                raise KeyError(context.name)
        self.assertIsNone(self.build(Wrong()))
        self.assertIn('select_algorithms() gave', self.logger.errors[-1])
        self.refused(KeyError, '', self.build, Raises())
        self.refused(TypeError, 'IAlgorithmSelector', self.build, print)


if __name__ == '__main__':
    unittest.main()
