"""What a build says at VERBOSE: passes that changed the graph, each problem with its candidates, times and winner, and memory."""
import contextlib
import io
import unittest

from case import Case
from tensorrt_case import Lines, tanh_build

import tenfold.tensorrt as trt


class Verbose(Case):
    def test_what_it_tells(self):
        logger = Lines()
        builder, network, config = tanh_build(logger, level=3)
        self.assertIsNotNone(builder.build_serialized_network(network, config), logger.errors)
        reported = logger.of(trt.Logger.VERBOSE)
        self.assertIn('pass fuse_epilogue changed the graph, which has 1 node now', reported)
        problems = [line for line in reported if line.startswith("problem of step '")]
        self.assertTrue(problems)
        self.assertRegex(problems[0], r'MatMul f32\[batch,6\] f32\[6,4\].*: \d+ of \d+ candidates can run$')
        candidates = [line for line in reported if line.startswith('  ')]
        self.assertTrue([line for line in candidates if line.endswith(' us')], 'times of those that lost')
        self.assertTrue([line for line in candidates if line.endswith(' us, chosen')], 'the winner')
        self.assertTrue([line for line in candidates if line.endswith('its source is switched off')], 'reasons of others')
        self.assertEqual(len([line for line in reported if line.startswith('memory of program ')]), 1)
        self.assertTrue([line for line in reported if line.startswith('memory: ') and 'constants' in line])

    def test_verbose_says_more_than_info(self):
        counts = []
        for severity in (trt.Logger.WARNING, trt.Logger.INFO, trt.Logger.VERBOSE):
            reported = io.StringIO()
            with contextlib.redirect_stderr(reported):
                builder, network, config = tanh_build(trt.Logger(severity))
                builder.build_serialized_network(network, config)
            counts.append(reported.getvalue().count('[TRT]'))
        self.assertLessEqual(counts[0], counts[1])
        self.assertGreater(counts[2], counts[1] + 10)


if __name__ == '__main__':
    unittest.main()
