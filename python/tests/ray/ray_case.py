"""What the tests of tenfold.ray share: Ray on this machine, models with their truth in NumPy, and classes that die once."""
import os
import signal
import sys
import unittest

try:
    import ray
    ray.__version__   # a folder of that name on sys.path imports, too
    import ray.data
except (ImportError, AttributeError):
    raise unittest.SkipTest('ray is not installed; script/ray-check installs it and runs these tests') from None

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case, Lines, TensorProto, batch, helper, model, numpy_helper, onnx, tanh_model, truth  # noqa: E402
from embeddings_case import QUICK, WIDTH, RandomEncoder, ids_of  # noqa: E402

import tenfold  # noqa: E402
import tenfold.ray  # noqa: E402

WORDS = ['how are you?', 'fine.', 'red blue reds', 'how fine', 'blue. red. fine thanks', 'you', 'thanks thanks thanks?', 'are you blue?']
LEVEL = dict(optimization_level=0)


def find_modules():
    """Workers import the modules of the tests, and the tenfold that is tested."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [here, os.path.dirname(here), os.path.dirname(os.path.dirname(tenfold.__file__))]
    os.environ['PYTHONPATH'] = os.pathsep.join([*places, *filter(None, [os.environ.get('PYTHONPATH')])])


def start(**more):
    """Four CPUs, whatever there are: two actors that hold two of two leave the rest of a pipeline none, and it waits for ever."""
    find_modules()
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=200 << 20, log_to_driver=False, logging_level='ERROR', **more)
    ray.data.DataContext.get_current().enable_progress_bars = False


class RayCase(Case):
    """Of one Ray for all tests of a class."""

    STARTED: dict = {}

    @classmethod
    def setUpClass(cls):
        start(**cls.STARTED)
        cls.addClassCleanup(ray.shutdown)

    def onnx_file(self, name='m.onnx'):
        onnx.save(tanh_model(), self.path(name))
        return self.path(name)

    def encoder(self):
        return RandomEncoder(self.path('bert'), 'bert')


def texts_of(count):
    return [WORDS[i % len(WORDS)] + ' fine' * (i % 5) for i in range(count)]


def vector_truth(encoder, text):
    return encoder.tokens(ids_of(text), 0).mean(0)


def right_once(case, encoder, rows, count):
    """Every row of texts_of(count) once, with its vector."""
    case.assertEqual(sorted(row['i'] for row in rows), list(range(count)))
    texts, known = texts_of(count), {}
    for row in rows:
        text = texts[row['i']]
        case.assertEqual(row['text'], text)
        if text not in known:
            known[text] = vector_truth(encoder, text)
        case.near(row['embedding'], known[text], 1e-4)


def maps(folder):
    """Whether this process has files of the folder mapped."""
    with open('/proc/self/maps') as file:
        return folder in file.read()


def first(marker):
    """Whether this is the first process that asks."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class DiesOnce(tenfold.ray.Embedder):
    """An embedder whose process is killed as it begins the first batch that has the row `at`."""

    def __init__(self, *, marker, at, **options):
        self._marker, self._at = marker, at
        super().__init__(**options)

    def __call__(self, rows):
        if self._at in rows.column('i').to_pylist() and first(self._marker):
            die()
        return super().__call__(rows)
