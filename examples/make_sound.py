#!/usr/bin/env python3
"""Makes the sound that the demonstration listens to: silence, sung vowels, noise, vowels again; WAV, 16 kHz, one channel.

    python make_sound.py OUT.wav

The vowels are made as speech is: pulses of the vocal folds, with a pitch that moves, through the resonances of a throat.
"""
from __future__ import annotations

import sys
import wave
from typing import Any

import numpy as np

RATE = 16000
# Resonances in Hz of five vowels, as phonetics books give them for a man's voice.
VOWELS = {'a': (730, 1090, 2440), 'e': (530, 1840, 2480), 'i': (270, 2290, 3010), 'o': (570, 840, 2410), 'u': (300, 870, 2240)}


def resonance(x: Any, frequency: float, bandwidth: float = 90) -> Any:
    """A two-pole filter: rings at `frequency` and dies away the sooner the wider its band."""
    radius = np.exp(-np.pi * bandwidth / RATE)
    a1, a2 = 2 * radius * np.cos(2 * np.pi * frequency / RATE), -radius * radius
    y, last, before = np.empty_like(x), 0.0, 0.0
    for i, value in enumerate(x * (1 - a1 - a2)):
        last, before = value + a1 * last + a2 * before, last
        y[i] = last
    return y


def syllable(rng: np.random.Generator, vowel: str, seconds: float, pitch: float) -> Any:
    """A burst of breath (the consonant), then the vowel with a falling pitch and a soft end."""
    n = int(seconds * RATE)
    hertz = pitch * np.linspace(1.15, 0.85, n) * (1 + 0.01 * np.sin(2 * np.pi * 5 * np.arange(n) / RATE))
    phase = np.cumsum(hertz) / RATE
    pulses = np.diff(np.floor(phase), prepend=0.0)
    x = pulses + 0.02 * rng.standard_normal(n)
    for frequency in VOWELS[vowel]:
        x = resonance(x, frequency)
    x *= np.minimum(1, np.minimum(np.arange(n) / 400, (n - np.arange(n)) / 1200))
    breath = rng.standard_normal(n // 6) * np.hanning(n // 6) * np.abs(x).max() * 0.3
    return np.concatenate([breath, x]) / np.abs(x).max()


def make() -> Any:
    rng = np.random.default_rng(7)

    def pause(seconds: float) -> Any:
        return 0.0005 * rng.standard_normal(int(seconds * RATE))

    def phrase(vowels: str, pitch: float) -> Any:
        parts: list[Any] = []
        for vowel in vowels:
            parts.append(0.4 * syllable(rng, vowel, rng.uniform(0.12, 0.24), pitch * rng.uniform(0.9, 1.1)))
            parts.append(pause(rng.uniform(0.01, 0.05)))
        return np.concatenate(parts)
    hiss = 0.1 * rng.standard_normal(int(1.5 * RATE))
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
    return np.concatenate([pause(1), phrase('aeioauea', 120), pause(1), hiss, pause(0.5), phrase('oiaeuoia', 190), pause(0.7), tone,
                           pause(1)])


def save(path: str) -> None:
    samples = (np.clip(make(), -1, 1) * 32767).astype('<i2')
    with wave.open(path, 'wb') as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(RATE)
        f.writeframes(samples.tobytes())


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    save(sys.argv[1])
