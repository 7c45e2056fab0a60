"""cyto_dl.utils.tensorrt_utils: beside a package as CytoDL's is built, and without it; and what is copied into a checkout."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import tenfold_cyto_dl
from cyto_case import CytoCase

OURS = pathlib.Path(tenfold_cyto_dl.__file__).resolve().parent.parent
ASKED = 'from cyto_dl.utils.tensorrt_utils import TensorRTInferenceEngine as E; print(E.__module__)'


def python(code, folder, **environment):
    done = subprocess.run([sys.executable, '-c', code], cwd=folder, env=dict(os.environ, **environment), capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Names(CytoCase):
    def stand_in(self, apart, own=False):
        """A package as CytoDL's is built, in the folder where pip has put our file, or `apart` from it; `own`: with a fork's module."""
        for name, text in (('__init__', '__version__ = "0.6.2"\n'), ('utils/__init__', 'from .array import extract\n'),
                           ('utils/array', 'extract = 3\n')):
            path = self.path(f'theirs/cyto_dl/{name}.py')
            os.makedirs(os.path.dirname(path), exist_ok=True)
            pathlib.Path(path).write_text(text)
        target = self.path('theirs/cyto_dl/utils/tensorrt_utils.py')
        if own:
            pathlib.Path(target).write_text('class TensorRTInferenceEngine: ...\n')
        elif not apart:
            os.symlink(OURS / 'cyto_dl/utils/tensorrt_utils.py', target)
        self.addCleanup(shutil.rmtree, self.path('theirs'), ignore_errors=True)
        return {'PYTHONPATH': os.pathsep.join([self.path('theirs'), os.environ.get('PYTHONPATH', '')])}

    def test_alone(self):
        self.assertEqual(python('import cyto_dl.utils.tensorrt_utils as u, tenfold_cyto_dl as t; '
                                'print(u.TENSORRT_AVAILABLE, all(getattr(u, n) is getattr(t, n) for n in u.__all__), sorted(u.__all__))',
                                self.folder),
                         (0, "True True ['TENSORRT_AVAILABLE', 'TensorRTInferenceEngine', 'benchmark_tensorrt', 'create_int8_calibrator', "
                             "'export_to_tensorrt']\n"))

    def test_beside_a_package(self):
        for apart, first in ((False, ''), (True, 'import tenfold_cyto_dl; ')):
            with self.subTest(apart=apart):
                environment = self.stand_in(apart)
                self.assertEqual(python(first + ASKED + '; import cyto_dl.utils; print(cyto_dl.__version__, cyto_dl.utils.extract)',
                                        self.folder, **environment), (0, 'tenfold_cyto_dl._engine\n0.6.2 3\n'))
                shutil.rmtree(self.path('theirs'))

    def test_a_package_elsewhere_is_as_it_was_until_ours_is_imported(self):
        code, said = python(ASKED, self.folder, **self.stand_in(True))
        self.assertEqual(code, 1)
        self.assertIn("No module named 'cyto_dl.utils.tensorrt_utils'", said)

    def test_a_forks_own_module_stays_unless_ours_is_asked_for(self):
        environment = self.stand_in(True, own=True)
        self.assertEqual(python('import tenfold_cyto_dl; ' + ASKED, self.folder, **environment), (0, 'cyto_dl.utils.tensorrt_utils\n'))
        self.assertEqual(python('import tenfold_cyto_dl as t; t.install(); ' + ASKED + '; from cyto_dl.utils import tensorrt_utils as u; '
                                'print(u.TensorRTInferenceEngine is E)', self.folder, **environment),
                         (0, 'tenfold_cyto_dl._engine\nTrue\n'))

    def test_nothing_runs_when_python_starts(self):
        found = ('import sys; print([m for m in sys.modules if m.partition(".")[0] in ("tenfold", "numpy", "tenfold_cyto_dl", "cyto_dl")], '
                 '[f for f in sys.meta_path if "cyto" in f.__module__])')
        self.assertEqual(python(found, self.folder), (0, '[] []\n'))
        self.assertEqual([path.name for path in OURS.glob('*cyto*') if path.suffix == '.pth'], [])


class Checkout(CytoCase):
    FILES = ['configs/inference/tensorrt_dynamic.yaml', 'configs/inference/tensorrt_fp16.yaml', 'configs/inference/tensorrt_int8.yaml',
             'scripts/export_to_tensorrt.py']

    def copied(self):
        return sorted(str(path.relative_to(self.folder)) for path in pathlib.Path(self.folder).rglob('*') if path.is_file())

    def test_files_are_copied(self):
        for _ in range(2):   # the second time nothing differs
            self.export(self.folder, module='tenfold_cyto_dl')
            self.assertEqual(self.copied(), self.FILES)

    def test_other_files_are_not_replaced(self):
        path = pathlib.Path(self.path('scripts/export_to_tensorrt.py'))
        path.parent.mkdir()
        path.write_text('mine')
        said = self.export(self.folder, module='tenfold_cyto_dl', code=1)
        self.assertIn('nothing is copied', said)
        self.assertIn(str(path), said)
        self.assertEqual((path.read_text(), self.copied()), ('mine', self.FILES[3:]))
        self.export(self.folder, '--force', module='tenfold_cyto_dl')
        self.assertEqual(self.copied(), self.FILES)
        self.assertNotEqual(path.read_text(), 'mine')

    def test_a_folder_that_is_not_there(self):
        self.assertIn('no folder', self.export(self.path('none'), module='tenfold_cyto_dl', code=1))

    def test_the_script_runs_the_command(self):
        self.export(self.folder, module='tenfold_cyto_dl')
        done = subprocess.run([sys.executable, 'scripts/export_to_tensorrt.py', '--onnx', self.onnx(extent=16), '--output', 'm.plan'],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.getsize(self.path('m.plan')) > 100)


if __name__ == '__main__':
    unittest.main()
