"""Machines on which no folder for plans can be made: engines are built all the same, and the log says once that plans are not kept."""
import os
import pathlib

from torch_case import TorchCase, python, unittest

BUILT = '''
import json, logging, os, warnings, torch, tenfold.torch
from torch_case import MLP
lines = []
class Kept(logging.Handler):
    def emit(self, record): lines.append(record.getMessage())
logging.getLogger("tenfold").addHandler(Kept())
options = {"optimization_level": 0, **json.loads(os.environ["OPTIONS"])}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for seed in range(2):
        torch._dynamo.reset()
        module = MLP(16 + seed).eval()
        print(tenfold.torch.explain(module, torch.randn(3, 8), options=options))
        run, x = torch.compile(module, backend="tenfold", options=options), torch.randn(3, 8)
        torch.testing.assert_close(run(x), module(x).detach())
print(sum("plans are not kept" in line for line in lines), "lines", [str(w.message) for w in told if "tenfold" in str(w.message)])
'''
EXPORTED = '''
import torch, tenfold.torch
from tenfold import torch_tensorrt
from torch_case import MLP
module, x = MLP().eval(), torch.randn(3, 8)
engine = tenfold.torch.export(module, (x,), optimization_level=0)
torch.testing.assert_close(tenfold.torch.load(bytes(engine.serialize()))(x), module(x).detach())
torch.testing.assert_close(torch_tensorrt.compile(module, inputs=[x], optimization_level=0)(x), module(x).detach())
torch.testing.assert_close(torch_tensorrt.compile(module, ir="torch_compile", optimization_level=0)(x), module(x).detach())
print("done")
'''


class WithoutAFolder(TorchCase):
    def run_in(self, code, options='{}', **environment):
        """Without HOME and XDG_CACHE_HOME, but for what is given."""
        unset = ''.join(f'import os; os.environ.pop({name!r}, None)\n' for name in ('HOME', 'XDG_CACHE_HOME') if name not in environment)
        paths = os.pathsep.join(filter(None, [str(pathlib.Path(__file__).parent), os.environ.get('PYTHONPATH')]))
        done = python(unset + code, PYTHONPATH=paths, OPTIONS=options, TORCHINDUCTOR_CACHE_DIR=self.path('torch'), **environment)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout

    def variants(self):
        with open(self.path('file'), 'w'):
            pass
        return ({}, {'XDG_CACHE_HOME': '/proc/x'}, {'HOME': '/proc/x'}, {'HOME': '', 'XDG_CACHE_HOME': self.path('file')})

    def test_engines_are_built(self):
        for environment in self.variants():
            with self.subTest(environment):
                reported = self.run_in(BUILT, **environment)
                self.assertEqual(reported.count('engine: '), 2, reported)
                self.assertIn('1 lines []', reported)

    def test_of_ones_own(self):
        reported = self.run_in(BUILT, options='{"plan_cache": "/proc/x"}', HOME=self.folder)
        self.assertIn('1 lines []', reported)
        self.assertEqual(reported.count('engine: '), 2, reported)

    def test_exported_ones(self):
        for environment in self.variants()[::2]:
            with self.subTest(environment):
                self.assertIn('done', self.run_in(EXPORTED, **environment))


if __name__ == '__main__':
    unittest.main()
