"""Random decoders, loaded by tenfold, for several tests."""
import re

from case import Case
from decoders_case import QUICK, RandomDecoder

import tenfold

PROMPT = [1, 2, 4, 6, 7, 8]


def resident():
    """Bytes of this process in memory."""
    with open('/proc/self/status') as file:
        return int(re.search(r'VmRSS:\s+(\d+) kB', file.read())[1]) << 10


class Decoders(Case):
    def decoder(self, kind='llama', **options):
        self.truth = RandomDecoder(self.path(kind.replace(' ', '_')), kind)
        return tenfold.Decoder(self.truth.folder, **{**QUICK, **options})
