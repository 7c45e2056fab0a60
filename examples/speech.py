"""Listens to a sound with a speech detector, chunk by chunk, its state carried from run to run, with Tenfold and with ONNX Runtime."""
from __future__ import annotations

import os
import wave
from collections.abc import Iterator
from typing import Any

import make_sound
import numpy as np
import plans
import sentence_search
import worker
from side_by_side import Row

import tenfold

CHUNK, CONTEXT, RATE = 512, 64, 16000   # each run sees the last 64 samples of the chunk before, too
PROFILE = {'input': (1, CONTEXT + CHUNK), 'state': (2, 1, 128)}


def read_wav(path: str) -> Any:
    with wave.open(path) as f:
        return np.frombuffer(f.readframes(f.getnframes()), '<i2').astype(np.float32) / 32768


def chunks(samples: Any) -> list[Any]:
    return [samples[at:at + CHUNK] for at in range(0, len(samples) - CHUNK + 1, CHUNK)]


def detect(engine: tenfold.Engine, samples: Any) -> Any:
    """The probability of speech in each chunk. The context reads and writes arrays that are bound once."""
    context = engine.create_context()
    window, state = (np.zeros(shape, np.float32) for shape in PROFILE.values())
    probability, next_state = np.empty((1, 1), np.float32), np.empty_like(state)
    for name, array in (('input', window), ('state', state), ('sr', np.array(RATE)), ('output', probability), ('stateN', next_state)):
        context.bind(name, array)
    found = []
    for chunk in chunks(samples):
        window[0, :CONTEXT] = window[0, -CONTEXT:]
        window[0, CONTEXT:] = chunk
        context.run()
        state[:] = next_state
        found.append(probability[0, 0])
    return np.array(found)


def detect_with_onnxruntime(onnx: str, samples: Any) -> Any:
    session, state, before, found = worker.session(onnx, 1), np.zeros((2, 1, 128), np.float32), np.zeros(CONTEXT, np.float32), []
    for chunk in chunks(samples):
        window = np.concatenate([before, chunk])
        probability, state = session.run(None, {'input': window[None], 'state': state, 'sr': np.array(RATE)})
        before = window[-CONTEXT:]
        found.append(probability[0, 0])
    return np.array(found)


def timeline(probabilities: Any, per_line: int = 100) -> Iterator[str]:
    """A bar per chunk, from nothing to certainty."""
    bars = ' ▁▂▃▄▅▆▇█'
    for at in range(0, len(probabilities), per_line):
        part = probabilities[at:at + per_line]
        yield f'{at * CHUNK / RATE:5.1f} s |' + ''.join(bars[min(8, round(float(p) * 8))] for p in part) + '|'


def show(folder: str) -> Row:
    """Detects and compares; returns the table's row."""
    # Two detectors in one model: an If chooses by the sampling rate, and the other rate's branch does not fit these chunks.
    onnx = sentence_search.package_folder('silero_vad', 'data', 'silero_vad.onnx')
    sound, plan = os.path.join(folder, 'sound.wav'), os.path.join(folder, 'speech.plan')
    if not plans.newer(sound, make_sound.__file__):
        make_sound.save(sound)
    engine, samples = plans.kept(onnx, plan, 1, PROFILE), read_wav(sound)
    ours, theirs = detect(engine, samples), detect_with_onnxruntime(onnx, samples)
    for line in timeline(ours):
        print('  ' + line)
    difference = np.abs(ours - theirs).max()
    print(f'\n  {len(ours)} chunks with their state carried; beside ONNX Runtime: largest difference of probabilities {difference:.1e}')
    if not difference < 1e-3:
        raise RuntimeError('the probabilities disagree')
    window = samples[50 * CHUNK - CONTEXT:51 * CHUNK][None]
    inputs = {'input': window, 'state': np.zeros((2, 1, 128), np.float32), 'sr': np.array(RATE)}
    return Row('speech, one chunk (32 ms)', onnx, plan, plans.saved(os.path.join(folder, 'chunk'), inputs), 1)
