#!/usr/bin/env python3
"""A column of text to a column of vectors, by two actors of Ray Data.

    python ray_embed.py MODEL_FOLDER TEXTS OUT

MODEL_FOLDER: an encoder, as sentence-transformers saves it. TEXTS: a file with a text on each line. OUT: a folder for Parquet files. It
needs `pip install 'tenfold[ray]'`.
"""
from __future__ import annotations

import os
import sys


def main(model: str, texts: str, out: str) -> None:
    import ray
    import tenfold.ray
    # Actors hold two, and reading and writing need some, too: where there are two in all, the job would wait for ever.
    ray.init(num_cpus=max(4, os.cpu_count() or 1))
    rows = ray.data.read_text(texts).map_batches(
        tenfold.ray.Embedder, fn_constructor_kwargs={'folder': os.path.abspath(model), 'column': 'text', 'on_error': 'null'},
        batch_format='pyarrow', batch_size=2000, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=2))
    rows.write_parquet(os.path.abspath(out))


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
