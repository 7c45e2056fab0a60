#!/usr/bin/env python3
"""examples/speech_detector.cpp beside ONNX Runtime, on the demo's sound: speech_detector_test.py SPEECH_DETECTOR"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import wave

import report_skips

try:
    import numpy as np
    import onnxruntime
except ImportError as missing:
    print('skipped:', missing, '(script/bootstrap python installs it)')
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'examples'))
import make_sound  # noqa: E402

CHUNK, CONTEXT = 512, 64
PROGRAM = os.path.abspath(sys.argv.pop(1))


def expected(model, sound):
    """The probability of speech in each chunk, with the state carried by ONNX Runtime."""
    with wave.open(sound) as f:
        samples = np.frombuffer(f.readframes(f.getnframes()), np.int16).astype(np.float32) / 32768
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    state, padded, found = np.zeros((2, 1, 128), np.float32), np.concatenate([np.zeros(CONTEXT, np.float32), samples]), []
    for at in range(0, len(samples) - CHUNK + 1, CHUNK):
        feed = {'input': padded[None, at:at + CONTEXT + CHUNK], 'state': state, 'sr': np.array(make_sound.RATE)}
        probability, state = session.run(None, feed)
        found.append(probability[0, 0])
    return np.array(found)


class SpeechDetector(unittest.TestCase):
    def test_it_hears_what_onnx_runtime_hears(self):
        package = importlib.util.find_spec('silero_vad')
        if not package:
            self.skipTest('silero-vad is not installed (script/bootstrap python installs it)')
        model = os.path.join(os.path.dirname(package.origin), 'data', 'silero_vad.onnx')
        with tempfile.TemporaryDirectory() as folder:
            sound, plan = os.path.join(folder, 'sound.wav'), os.path.join(folder, 'speech.plan')
            make_sound.save(sound)
            reference = expected(model, sound)
            self.assertTrue(reference.max() > 0.9 and reference.min() < 0.1)
            for made in (False, True):
                self.assertEqual(os.path.exists(plan), made)
                done = subprocess.run([PROGRAM, model, sound, plan], capture_output=True, text=True, timeout=600)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = [float(line.split()[1]) for line in done.stdout.splitlines()]
                np.testing.assert_allclose(found, reference, rtol=0, atol=1e-3)

    def test_it_says_what_is_wrong(self):
        done = subprocess.run([PROGRAM, '/no/such.onnx', '/no/such.wav'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('/no/such.onnx', done.stderr)


if __name__ == '__main__':
    report_skips.run()
