"""What tests of tenfold-hana share: HF_HOME with small random models under the guide's names, folders for engines, and the truth."""
import logging
import os
import sys
from unittest import mock

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case  # noqa: E402
from embeddings_case import TOKENS, RandomEncoder  # noqa: E402

logging.getLogger('tenfold').addHandler(logging.NullHandler())   # what is told is asserted, and not shown
MPNET, MINILM = 'sentence-transformers/all-mpnet-base-v2', 'sentence-transformers/all-MiniLM-L6-v2'
TEXTS = ['how are you?', 'fine.', '', 'red blue reds how are you fine thanks. how are you? fine fine fine', 'blue', 'red red.'] * 3


def ids_of(text):
    words = text.replace('?', ' ?').replace('.', ' .').replace('reds', 'red ##s').split()
    return [0, *(TOKENS.index(word) for word in words), 2]


def vectors_of(model, texts):
    """Means of the tokens' vectors, each of length 1, by NumPy."""
    rows = np.array([model.tokens(ids_of(text), np.zeros(len(ids_of(text)), int)).mean(0) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class HanaCase(Case):
    def setUp(self):
        super().setUp()
        self.models = {name: self.model(name, kind) for name, kind in ((MPNET, 'mpnet'), (MINILM, 'bert'))}
        environment = {name: text for name, text in os.environ.items() if not name.startswith(('TENSORRT_', 'USE_TENSORRT'))}
        environment |= {'HF_HOME': self.path('hf'), 'TENSORRT_CACHE_DIR': self.path('engines'),
                        'TENSORRT_CALIBRATION_CACHE': self.path('calibration'), 'TENFOLD_DEVICE': os.environ.get('TENFOLD_DEVICE', 'cpu')}
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def model(self, name, kind):
        repository = self.path('hf/hub/models--' + name.replace('/', '--'))
        made = RandomEncoder(os.path.join(repository, 'snapshots', '1'), kind)
        os.makedirs(os.path.join(repository, 'refs'))
        with open(os.path.join(repository, 'refs', 'main'), 'w') as file:
            file.write('1')
        return made

    def near_truth(self, rows, name=MINILM, texts=TEXTS, atol=2e-5):
        np.testing.assert_allclose(rows, vectors_of(self.models[name], texts), atol=atol)
