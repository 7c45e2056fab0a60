"""The page of torch: its blocks run, and its list of operators is that of the code."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

from torch_case import TorchCase, torch, unittest

from tenfold.torch.aten import OPERATORS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


class Page(TorchCase):
    def test_blocks(self):
        blocks = re.findall(r'^```python\n(.*?)^```', (ROOT / 'docs' / 'guides' / 'torch.md').read_text(), re.M | re.S)
        self.assertTrue(blocks)
        with contextlib.chdir(self.folder):
            os.environ['XDG_CACHE_HOME'] = self.folder
            self.addCleanup(os.environ.pop, 'XDG_CACHE_HOME')
            for block in blocks:
                names = {}
                exec(compile(block, 'docs/guides/torch.md', 'exec'), names)
                self.assertEqual(names['y'].shape, torch.Size([3, 4]))

    def test_operators(self):
        done = subprocess.run([sys.executable, ROOT / 'tools' / 'write_torch_docs.py', '--check'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = int(re.search(r'^(\d+) overloads', (ROOT / 'docs' / 'guides' / 'torch.md').read_text(), re.M)[1])
        libraries = ('aten.', 'prims.', 'tenfold.', 'torchvision.', 'transformers.')
        self.assertEqual(listed, sum(name.startswith(libraries) for name in OPERATORS))


if __name__ == '__main__':
    unittest.main()
