"""The programs that a wheel installs: tenfold, and trtexec, which takes the line that a guide of another engine has."""
import base64
import os
import pathlib
import shlex
import subprocess
import sysconfig
import tempfile
import unittest

# A user's, as it stands in that guide.
LINE = """trtexec --onnx=model.onnx \\
  --saveEngine=model.engine \\
  --fp16 \\
  --workspace=1024"""
RELU = base64.b64decode('CAg6NgoMCgF4EgF5IgRSZWx1EgRyZWx1Wg8KAXgSCgoICAESBAoCCANiDwoBeRIKCggIARIECgIIA0IECgAQEQ==')
PROGRAM = pathlib.Path(sysconfig.get_path('scripts'), 'trtexec')


@unittest.skipUnless(PROGRAM.exists(), 'no wheel is installed')
class Programs(unittest.TestCase):
    def run_line(self, line, folder):
        path = os.pathsep.join([str(PROGRAM.parent), os.environ['PATH']])
        return subprocess.run(shlex.split(line.replace('\\\n', '')), cwd=folder, env={**os.environ, 'PATH': path}, capture_output=True,
                              text=True)

    def test_trtexec_takes_a_line_of_its_guides(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'model.onnx').write_bytes(RELU)
            done = self.run_line(LINE, folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn('&&&& PASSED TensorRT.trtexec', done.stdout)
            self.assertGreater(pathlib.Path(folder, 'model.engine').stat().st_size, 0)

    def test_tenfold_is_called_by_its_own_name(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'model.onnx').write_bytes(RELU)
            done = self.run_line('tenfold exec --onnx=model.onnx --duration=0 --iterations=2 --warmUp=0', folder)
            self.assertIn('&&&& PASSED Tenfold.exec', done.stdout, done.stderr)


if __name__ == '__main__':
    unittest.main()
