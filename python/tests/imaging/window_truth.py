"""Sliding windows restated in NumPy and float64: the independent truth. It shares no code with the library."""
import functools
import itertools

import numpy as np

NUMPY_MODES = {'constant': 'constant', 'reflect': 'reflect', 'replicate': 'edge', 'circular': 'wrap'}


def starts(padded, roi, overlap):
    """Where windows begin along an axis; the last one ends where the image does."""
    step = padded if roi == padded else max(1, int(roi * (1 - overlap)))
    return [min(start, padded - roi) for start in range(0, padded - roi + step, step)]


def gaussian(roi, sigma_scale):
    lines = [np.exp(-0.5 * ((np.arange(r) - (r - 1) / 2) / (r * scale)) ** 2) for r, scale in zip(roi, sigma_scale)]
    weights = functools.reduce(np.multiply.outer, lines)
    return np.maximum(weights, max(weights.min(), 1e-3))


def resized(weights, shape):
    """By the nearest voxel, centers on centers."""
    for axis, (old, new) in enumerate(zip(weights.shape, shape)):
        weights = weights.take((2 * np.arange(new) + 1) * old // (2 * new), axis)
    return weights


def resized_maps(weights, shapes):
    """One map for each output: an output of another resolution takes the map of the last such output before it."""
    maps, last = [], weights
    for shape in shapes:
        last = last if shape == weights.shape else resized(last, shape)
        maps.append(weights if shape == weights.shape else last)
    return maps


def sliding_windows(images, roi, predict, overlap, weights_of, padding_mode='constant', cval=0.0):
    """predict(window, image, place): a list of [channel, spatial...]. weights_of(number): [roi...] of a window; those
    of the first divide all voxels."""
    spatial = images.shape[2:]
    before = [max(r - n, 0) // 2 for r, n in zip(roi, spatial)]
    widths = [(0, 0), (0, 0)] + [(b, max(r - n, 0) - b) for r, n, b in zip(roi, spatial, before)]
    constant = {'constant_values': cval} if padding_mode == 'constant' else {}
    filled = np.pad(images, widths, NUMPY_MODES[padding_mode], **constant)
    padded = filled.shape[2:]
    places = list(itertools.product(*(starts(n, r, o) for n, r, o in zip(padded, roi, overlap))))
    sums, divisors = None, None
    for number, (image, place) in enumerate(itertools.product(range(len(images)), places)):
        window = filled[(image, slice(None), *(slice(s, s + r) for s, r in zip(place, roi)))]
        outputs = predict(window, image, place)
        shapes = [y.shape[1:] for y in outputs]
        maps, first = (resized_maps(np.asarray(weights_of(n), np.float64), shapes) for n in (number, 0))
        if sums is None:
            sizes = [[n * o // r for n, o, r in zip(padded, shape, roi)] for shape in shapes]
            sums = [np.zeros((len(images), len(y), *size)) for y, size in zip(outputs, sizes)]
            divisors = [np.zeros((len(images), 1, *size)) for size in sizes]
        for y, sum_, divisor, weights, dividing in zip(outputs, sums, divisors, maps, first):
            at = tuple(slice(s * o // r, s * o // r + o) for s, r, o in zip(place, roi, y.shape[1:]))
            sum_[(image, slice(None), *at)] += weights * y
            divisor[(image, 0, *at)] += dividing
    results = [sum_ / divisor for sum_, divisor in zip(sums, divisors)]
    if padded == spatial:
        return results
    return [y[(slice(None), slice(None), *(slice(round(b * n / r), round((b + s) * n / r)) for b, s, n, r in
                                           zip(before, spatial, y.shape[2:], roi)))] for y in results]


def resampled(values, grid, interpolation):
    """[..., spatial...] axis by axis, in float64: centers of voxels on centers."""
    values = np.asarray(values, np.float64)
    first = values.ndim - len(grid)
    for axis, (new, how) in enumerate(zip(grid, interpolation), first):
        old = values.shape[axis]
        centers = (np.arange(new) + 0.5) * old / new
        if how == 'nearest':
            values = values.take((2 * np.arange(new) + 1) * old // (2 * new), axis)
            continue
        places = np.clip(centers - 0.5, 0, old - 1)
        low = np.minimum(places.astype(int), max(old - 2, 0))
        weight = (places - low).reshape([-1 if at == axis else 1 for at in range(values.ndim)])
        values = values.take(low, axis) * (1 - weight) + values.take(np.minimum(low + 1, old - 1), axis) * weight
    return values
