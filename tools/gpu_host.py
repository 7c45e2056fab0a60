"""Images from the host's memory to results there, beside the network alone: from pinned and pageable memory, as f32 and as bytes, one run
at a time and some in flight. Part of the bundle that script/gpu-check makes; gpu_figures.py calls it.

A time is what a run takes where many are made: 1,000 ms over the runs a second. Copies are timed by the GPU's clock, in runs of their own.
Every context reads the same arrays in every run, so those that fit into the processor's caches come from there.
"""
import os, statistics

from gpu_common import np, saved, spec

ROWS = ('resnet50', 32), ('resnet50', 128), ('vit-b16', 32)
FLIGHTS = 1, 2, 3
ROUNDS = 3
BYTES = '--inputIOFormats=uint8:hwc'


def plans(a, run, log, name, batch, model):
    """Of f32 and of bytes: --loadEngine, --loadInputs."""
    import make_models
    values = make_models.inputs(name, batch=batch)
    (key, image), = values.items()
    made = {}
    for kind, given, flags in (('f32', image, []), ('u8', np.random.default_rng(0).integers(0, 256, image.shape, dtype=np.uint8), [BYTES])):
        lies = given if kind == 'f32' else np.ascontiguousarray(given.transpose(0, 2, 3, 1))
        plan = os.path.join(a.models, f'host-{name}-{batch}-{kind}.plan')
        run(log, f'--onnx={model}', '--fp16', spec(values), f'--saveEngine={plan}', '--skipInference', *flags,
            f'--timingCacheFile={a.out}/timing.cache')
        made[kind] = [f'--loadEngine={plan}', saved(a.models, f'host-{name}-{batch}-{kind}', {key: lies})]   # which say the shapes
    return made


def a_run(found):
    return 1e3 / found['throughput_qps']


def times(a, run, log, words):
    """Milliseconds by memory and runs in flight, medians of ROUNDS; and what the first of them says of copy and network."""
    found = {(memory, flight): [] for memory in ('none', 'pinned', 'pageable') for flight in FLIGHTS}
    parts = []
    for _ in range(ROUNDS):
        for memory, flight in found:
            flags = ['--noDataTransfers'] if memory == 'none' else [f'--hostMemory={memory}']
            told, _ = run(log, *words, *flags, f'--infStreams={flight}', f'--duration={a.seconds}')
            found[memory, flight].append(a_run(told))
            if (memory, flight) == ('pinned', 1):
                parts.append((told['gpu_compute_ms'], told['host_to_device_ms']))
    compute, copy = (statistics.median(values) for values in zip(*parts))
    return {key: statistics.median(values) for key, values in found.items()}, compute, copy


def beside(found, memory):
    return ', '.join(f'{flight}: {found[memory, flight]:.2f}' for flight in FLIGHTS if (memory, flight) in found)


def of_row(what, f32, u8):
    """The figures of one network and batch, from what times() gave."""
    (f32, network, copy), (u8, _, copy8) = f32, u8
    yield (f'{what}: the network alone, ms of the GPU', None, network,
           f'f32 images of a batch cross the bus in {copy:.2f} ms, bytes in {copy8:.2f}; a run without copies by runs in flight: '
           + beside(f32, 'none'))
    for kind, found, wanted in (('f32', f32, {'pinned': 1.1 * max(network, copy), 'pageable': 1.1 * max(network, 2 * copy)}),
                                ('uint8:hwc', u8, {'pinned': 1.05 * network, 'pageable': 1.05 * network})):
        for memory in ('pinned', 'pageable'):
            yield (f'{what}, {kind} from {memory} memory: ms for a run of some in flight', -round(wanted[memory], 3),
                   min(found[memory, flight] for flight in FLIGHTS[1:]), f'by runs in flight: {beside(found, memory)}')


def rows(a, run, log, model_of):
    for name, batch in ROWS:
        made = plans(a, run, log, name, batch, model_of(name))
        yield from of_row(f'{name}, batch {batch}, fp16', times(a, run, log, made['f32']), times(a, run, log, made['u8']))
