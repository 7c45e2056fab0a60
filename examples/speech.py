"""Listens to a sound with the speech detector, chunk by chunk, with Tenfold's C++ example and with ONNX Runtime."""
import os
import wave

import numpy as np

import make_sound
import onnxruntime_worker
import sentence_search
import tenfold_cli

CHUNK, CONTEXT, RATE = 512, 64, 16000


def read_wav(path):
    with wave.open(path) as f:
        return np.frombuffer(f.readframes(f.getnframes()), '<i2').astype(np.float32) / 32768


def windows(samples):
    """Chunks of 512 samples, each after the last 64 of the one before."""
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), samples])
    return [padded[at:at + CONTEXT + CHUNK][None] for at in range(0, len(samples) - CHUNK + 1, CHUNK)]


def detect_with_onnxruntime(onnx, samples):
    session, state, found = onnxruntime_worker.load(onnx, 1), np.zeros((2, 1, 128), np.float32), []
    for window in windows(samples):
        probability, state = session.run(None, {'input': window, 'state': state, 'sr': np.array(RATE)})
        found.append(probability[0, 0])
    return np.array(found)


def timeline(probabilities, per_line=100):
    """A bar per chunk, from nothing to certainty."""
    bars = ' ▁▂▃▄▅▆▇█'
    for at in range(0, len(probabilities), per_line):
        part = probabilities[at:at + per_line]
        yield f'{at * CHUNK / RATE:5.1f} s |' + ''.join(bars[min(8, round(float(p) * 8))] for p in part) + '|'


def show(folder):
    """Detects and compares; returns what the table needs."""
    # Two detectors in one model: an If chooses by the sampling rate, and the other rate's branch does not fit these chunks.
    onnx = sentence_search.package_folder('silero_vad', 'data', 'silero_vad.onnx')
    sound, plan = os.path.join(folder, 'sound.wav'), os.path.join(folder, 'speech.plan')
    if not tenfold_cli.newer(sound, make_sound.__file__):
        make_sound.save(sound)
    if os.path.exists(plan) and not tenfold_cli.newer(plan, tenfold_cli.SPEECH_DETECTOR, onnx):
        os.remove(plan)
    lines = tenfold_cli.run([tenfold_cli.SPEECH_DETECTOR, onnx, sound, plan]).splitlines()
    ours = np.array([float(line.split()[1]) for line in lines])
    theirs = detect_with_onnxruntime(onnx, read_wav(sound))
    for line in timeline(ours):
        print('  ' + line)
    difference = np.abs(ours - theirs).max() if ours.shape == theirs.shape else np.inf
    print(f'\n  {len(ours)} chunks with their state carried; beside ONNX Runtime: largest difference of probabilities {difference:.1e}')
    if not difference < 1e-3:
        raise RuntimeError('the probabilities disagree')
    return onnx, plan, read_wav(sound)


def table_row(folder, onnx, plan, samples):
    arrays = {'input': windows(samples)[50], 'state': np.zeros((2, 1, 128), np.float32), 'sr': np.array(RATE)}
    return 'speech, one chunk (32 ms)', onnx, plan, tenfold_cli.Inputs(os.path.join(folder, 'chunk'), arrays), 1, 'output'
