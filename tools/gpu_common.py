"""What the parts of gpu_check.py share: processes with their logs, shares of long tests, what was promised and kept, cosines; when, where
and from which commit a record was measured; what power the GPU takes meanwhile."""
import json, os, re, statistics, subprocess, threading, time
from concurrent.futures import ThreadPoolExecutor

try:
    import numpy as np
except ImportError:   # the page is written and checked without
    np = None

HERE = os.path.dirname(os.path.abspath(__file__))
TENFOLD = os.path.join(HERE, 'tenfold')


def shell(command, log, limit=300, env=None):
    """Exit code, text (the result of tenfold is the last line of stdout) and seconds."""
    start = time.time()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=env)
        text, code = done.stderr + done.stdout, done.returncode
    except subprocess.TimeoutExpired as e:
        text, code = f'{e.stdout or b""}\n{e.stderr or b""}\ntimed out', 124
    with open(log, 'w') as f:
        f.write(' '.join(command) + '\n' + text)
    return code, text, time.time() - start


def last_line(text):
    return text.strip().splitlines()[-1][:300] if text.strip() else 'no output'


def in_shares(tag, command, shares, variable, limit, log, only=None, env=None):
    """Runs `command` as `shares` processes (or `only` some of them), each told its share by an environment variable or by {share} in its
    words: True if all pass."""
    def one(k):
        mine = dict(os.environ, **(env or {}), **({variable: f'{k}/{shares}'} if variable else {}))
        words = [word.replace('{share}', f'{k}/{shares}') for word in command]
        return shell(words, os.path.join(log, f'{tag}-{k}.log'), limit, mine)
    which = only or list(range(1, shares + 1))
    with ThreadPoolExecutor(len(which)) as pool:
        results = list(pool.map(one, which))
    bad = [(k, code, text) for k, (code, text, _) in zip(which, results) if code]
    verdict = f'{len(bad)} of {len(which)} shares failed' if bad else 'passed'
    print(f'{tag}: {verdict}, {max(s for _, _, s in results):.0f} s', flush=True)
    for k, code, text in bad:
        print(f'  share {k}: exit {code}\n' + '\n'.join('    ' + line[:200] for line in text.splitlines()[-25:]))
    return not bad


FAILED = re.compile(r'^\s*(?:\[  FAILED  \] ([A-Za-z]\S+)|(?:FAIL|ERROR): (\S+ \(\S+\))|FAIL ((?:\w+/)?test_\S+): |'
                    r'([^:\n]+): (?:FAILED|\d+ of \d+ shares failed))', re.M)


def failures(text):
    """The names of tests that failed, as GoogleTest, unittest, the ONNX suite's program and our own parts print them."""
    return sorted({next(filter(None, found)).rstrip(',') for found in FAILED.findall(text)})[:40]


def kept(a, name, otherwise):
    """What earlier calls left in OUT."""
    path = os.path.join(a.out, name)
    return json.load(open(path)) if os.path.exists(path) else otherwise


def keep(a, name, value):
    with open(os.path.join(a.out, name), 'w') as f:
        json.dump(value, f, indent=1)


def stamp():
    """Kept in every record: the time (UTC), the device with its driver, and the commit that the bundle was made of."""
    path = os.path.join(HERE, 'commit')
    commit = open(path).read().strip() if os.path.exists(path) else 'unknown'
    device = smi('name,driver_version') or ['no nvidia-smi']
    return dict(date=time.strftime('%Y-%m-%d %H:%M', time.gmtime()), device=', driver '.join(device), commit=commit)


def smi(fields):
    """What nvidia-smi answers for these fields, or nothing."""
    try:
        said = subprocess.run(['nvidia-smi', f'--query-gpu={fields}', '--format=csv,noheader,nounits'], capture_output=True, text=True)
    except OSError:
        return []
    return [part.strip() for part in said.stdout.splitlines()[0].split(',')] if said.returncode == 0 and said.stdout.strip() else []


class Power:
    """The GPU's power and SM clock while a block runs: medians of what nvidia-smi says twenty times a second, its idle start left out."""

    def __enter__(self):
        self.seen = []
        try:
            ask = ['nvidia-smi', '--query-gpu=power.draw,clocks.sm', '--format=csv,noheader,nounits', '-lms', '50']
            self.process = subprocess.Popen(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.process = None
            return self
        threading.Thread(target=self.listen, daemon=True).start()
        return self

    def listen(self):
        for line in self.process.stdout:
            try:
                self.seen.append((time.time(), *(float(x) for x in line.split(','))))
            except ValueError:
                pass

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait()

    def said(self, since=None):
        """Watts, MHz and their limits; of what was seen from `since` on. Empty without nvidia-smi."""
        busy = [s for s in self.seen if since is None or s[0] >= since]
        if not busy:
            return {}
        least = max(s[1] for s in busy) * 0.8   # what is left out: before the GPU works, and after
        busy = [s for s in busy if s[1] >= least]
        limits = smi('power.limit,clocks.max.sm') or [0, 0]
        return dict(watts=statistics.median(s[1] for s in busy), mhz=statistics.median(s[2] for s in busy),
                    most_watts=float(limits[0]), most_mhz=float(limits[1]))


def mixed_lengths(batch=128, longest=128, mean=40, seed=3):
    """Lengths of sentences: `mean` on average, of which one has `longest` tokens."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(np.log(mean * 0.82), 0.62, batch).astype(int), 3, longest)
    lengths[0] = longest
    while lengths.mean() < mean:
        lengths[rng.integers(1, batch)] += 1
    while lengths.mean() > mean:
        at = rng.integers(1, batch)
        lengths[at] = max(3, lengths[at] - 1)
    return np.minimum(lengths, longest)


def remember(a, what, good, took, detail=''):
    """One line of the table of promises."""
    promises = kept(a, 'promises.json', {})
    promises[what] = dict(good=bool(good), took_s=round(took, 1), detail=detail, measured=stamp())
    keep(a, 'promises.json', promises)


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))


def truth(model, values):
    """What ONNX Runtime computes on the CPU in fp32."""
    import onnxruntime as ort
    session = ort.InferenceSession(model, providers=['CPUExecutionProvider'])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, values)))


def spec(values):
    return '--shapes=' + ','.join(f"{k}:{'x'.join(map(str, v.shape))}" for k, v in values.items())


def saved(folder, tag, values):
    """--loadInputs for arrays."""
    files = []
    for key, value in values.items():
        path = os.path.join(folder, f'{tag}-{key}.npy')
        np.save(path, value)
        files.append(f'{key}:{path}')
    return '--loadInputs=' + ','.join(files)
