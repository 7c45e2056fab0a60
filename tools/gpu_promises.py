"""What was promised and is neither speed nor a model: operator cases, the run time, graphs at random, the ONNX suite,
memory, sanitizers."""
import os, re, sys, time
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from shutil import which

from gpu_common import HERE, TENFOLD, failures, in_shares, remember, shell


def program(name):
    return os.path.join(HERE, name)


def part(a, what, tag, command, shares, limit, variable=None, **more):
    start = time.time()
    good = in_shares(tag, command, shares, variable, limit, a.out, **more)
    remember(a, what, good, time.time() - start, '' if good else failed_in(a.out, tag))
    return good


def failed_in(folder, tag):
    """Which cases failed, by the logs of a part's shares: a verdict without them tells nobody where to look."""
    names = set()
    for log in glob(os.path.join(folder, f'{tag}-*.log')):
        with open(log, errors='replace') as file:
            names.update(failures(file.read()))
    return ', '.join(sorted(names)) or 'no case is named in the logs: a share crashed, or its time was up'


def sweep(a):
    return part(a, 'operator cases through every CUDA tactic that accepts them', 'operator cases',
                [program('backends_test'), '--gtest_filter=Backends/Conformance.*/cuda'], a.shares, 200, 'TENFOLD_CASES')


def alone(a):
    """What needs the GPU's memory, or all its time, for itself."""
    good = part(a, 'the run time: callers\' streams and memory, overlap, lost device', 'gpu_test',
                [program('gpu_test'), '--gtest_filter=-*EightContexts*'], 1, 200)
    good = part(a, "runs in a caller's graph; memory that a runtime keeps and gives back", 'gpu_caller_test', [program('gpu_caller_test')],
                1, 100) and good
    good = part(a, 'windows of images cut, blended and reduced there, beside the host', 'gpu_imaging_test', [program('gpu_imaging_test')],
                1, 100) and good
    return part(a, 'lack of memory; 1,000 contexts made, run and destroyed, 1,000 plans loaded, run and unloaded: memory is where it was',
                'gpu_memory_test', [program('gpu_memory_test')], 1, 200) and good


def eight_threads(a, seconds):
    start = time.time()
    code, text, _ = shell([program('gpu_test'), '--gtest_filter=Gpu.EightContextsOnEightThreads'], os.path.join(a.out, 'eight threads.log'),
                          200, dict(os.environ, TENFOLD_SECONDS=str(seconds)))
    runs = re.search(r'(\d+) runs', text)
    print(f'eight threads: {"passed" if code == 0 else f"FAILED, exit {code}"}', runs.group(0) if runs else '', flush=True)
    remember(a, f'eight threads with eight contexts for {seconds} s, beside the tests above and below', code == 0, time.time() - start,
             runs.group(0) if runs else '')
    return code == 0


def together(a):
    """What asks for right answers alone, side by side."""
    env = dict(TENFOLD_DEVICE='cuda:0', TENFOLD_GRAPH_SECONDS='45', TENFOLD_SHARED=HERE)
    jobs = [lambda: part(a, 'packed text: wherever the mask lies, enqueued, bad offsets', 'packed_gpu_test',
                         [program('packed_gpu_test')], 1, 100),
            lambda: part(a, 'epilogues of products and convolutions in 8 bits, tf32 and f32; what tf32 rounds to', 'epilogues',
                         [program('backends_test'), '--gtest_filter=Cuda*.*AgreeWithTheReference:CudaTf32.Rounds*'], 1, 200),
            lambda: part(a, 'random graphs against the reference', 'random graphs', [program('random_graph_test')], 1, 200, env=env)]
    if a.minute:
        jobs.append(lambda: eight_threads(a, 60))
    with ThreadPoolExecutor(len(jobs)) as pool:
        return all([job.result() for job in [pool.submit(job) for job in jobs]])


def suite(a):
    """The ONNX suite under its own tolerances with default rounding: whole at level 0, every tenth case at level 3."""
    if not os.path.isdir(program('conformance')):
        print('the bundle has no ONNX suite: script/gpu-check says where it looks')
        return False
    words, env = [program('optimized_suite'), '--device', 'cuda:0', '--rounds'], dict(TENFOLD_SHARED=HERE)
    good = part(a, 'ONNX suite, default rounding, nothing timed: what the CPU runs, loops and sizes without a bound included', 'ONNX suite',
                [*words, '--level', '0', '--share', '{share}'], a.shares, 300, env=env)
    timed = list(range(1, 10 * a.shares, 10))   # of ten times as many shares every tenth, so that each is told K/N of its own
    return part(a, 'ONNX suite, default rounding, level 3, every tenth case', 'ONNX suite, level 3',
                [*words, '--level', '3', '--share', '{share}'], 10 * a.shares, 280, only=timed, env=env) and good


def sanitizer():
    found = which('compute-sanitizer') or next(iter(sorted(glob('/usr/local/cuda*/bin/compute-sanitizer'), reverse=True)), None)
    if not found:
        print('compute-sanitizer is not here: memory was not checked')
    return found


def detection(a):
    """A network with many concatenations under initcheck, in each precision: no step reads what nothing wrote."""
    model, found, good = os.path.join(a.out, 'detection.onnx'), sanitizer(), True
    code, text, _ = shell([sys.executable, program('gpu_detection.py'), model], os.path.join(a.out, 'detection.log'))
    if code or not found:
        print(text[-500:])
        return False
    for precision in ('fp16', 'bf16', 'fp32'):
        plan, words = model.replace('.onnx', f'-{precision}.plan'), [] if precision == 'fp32' else [f'--{precision}']
        once = ['--device=cuda:0', '--iterations=2', '--warmUp=0', '--duration=0']
        code, text, _ = shell([TENFOLD, 'exec', f'--onnx={model}', f'--saveEngine={plan}', *words, *once], os.path.join(a.out, 'built.log'))
        if code:
            print(text[-500:])
        good = code == 0 and part(a, f'compute-sanitizer initcheck, a detection network with concatenations, {precision}',
                                  f'initcheck detection {precision}',
                                  [found, '--tool=initcheck', '--error-exitcode=9', '--print-limit=5', TENFOLD, 'exec',
                                   f'--loadEngine={plan}', *once], 1, a.limit) and good
    return good


def sanitize(a, tool):
    """The operator cases under one tool of compute-sanitizer: False if it finds something or is not here."""
    found = sanitizer()
    if not found:
        return False
    env = dict(TENFOLD_TACTICS='native')   # racecheck reports cuBLASLt's own kernels, too
    if tool == 'racecheck':   # it does not see that __syncwarp orders a warp before the one lane that arrives for it
        env['TENFOLD_EVERY_LANE_ARRIVES'] = '1'
    shares = a.sanitize_shares or list(range(1, a.shares + 1))
    return part(a, f'compute-sanitizer {tool}, operator cases through our own tactics, shares {shares[0]} to {shares[-1]} of {a.shares}',
                tool, [found, f'--tool={tool}', '--error-exitcode=9', '--print-limit=20', program('backends_test'),
                 '--gtest_filter=Backends/Conformance.EveryCase*/cuda'], a.shares, a.limit, 'TENFOLD_CASES', only=shares, env=env)
