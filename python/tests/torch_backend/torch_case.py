"""What the tests of tenfold.torch share: the truth is torch's eager mode. No plan is kept, and nothing is timed."""
import logging
import os
import sys
import unittest
import warnings

import torch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case, Lines, python  # noqa: E402

import tenfold  # noqa: E402
import tenfold.torch  # noqa: E402
from tenfold.torch import _report  # noqa: E402

QUICK = {'optimization_level': 0, 'plan_cache': False}


class MLP(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, width), torch.nn.Linear(width, 4)

    def forward(self, x):
        return torch.softmax(self.second(torch.relu(self.first(x))), -1)


class TorchCase(Case):
    def setUp(self):
        super().setUp()
        torch._dynamo.reset()
        torch.manual_seed(1)
        _report._told.clear()

    def compiled(self, module, dynamic=None, **options):
        """The module behind the backend, and the list of reports that it fills."""
        from tenfold.torch import _backend, _options
        reports = []
        chosen = _options.read_options({**QUICK, **options}, None)
        made = torch.compile(module, dynamic=dynamic, backend=lambda graph, inputs: _backend.compiled(graph, inputs, chosen, reports))
        return made, reports

    def same(self, found, expected, **tolerance):
        """Values, types, shapes and strides."""
        torch.testing.assert_close(found, expected, check_stride=True, **(tolerance or {'rtol': 1e-4, 'atol': 1e-5}))

    def one_engine(self, reports, breaks=0):
        self.assertEqual([len(r.engines) for r in reports], [1], list(map(str, reports)))
        self.assertEqual(len(reports[0].all_breaks()), breaks, str(reports[0]))


__all__ = ['MLP', 'QUICK', 'Case', 'Lines', 'TorchCase', 'logging', 'python', 'tenfold', 'torch', 'unittest', 'warnings']
