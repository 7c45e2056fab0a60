"""python -m tenfold_cyto_dl FOLDER: copies scripts/export_to_tensorrt.py and the presets configs/inference/tensorrt_*.yaml into a
checkout of CytoDL."""
from __future__ import annotations

import argparse
import pathlib
import sys

FILES = ('scripts/export_to_tensorrt.py', *(f'configs/inference/tensorrt_{name}.yaml' for name in ('fp16', 'int8', 'dynamic')))


def main() -> None:
    parser = argparse.ArgumentParser(prog='python -m tenfold_cyto_dl', description=' '.join((__doc__ or '').partition(': ')[2].split()))
    parser.add_argument('folder', type=pathlib.Path, help='the checkout')
    parser.add_argument('--force', action='store_true', help='replace files of these names')
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        sys.exit(f'tenfold_cyto_dl: {arguments.folder} is no folder; expected a checkout of CytoDL')
    here = pathlib.Path(__file__).resolve().parent
    texts = {arguments.folder / name: (here / name).read_text(encoding='utf-8') for name in FILES}
    others = [str(path) for path, text in texts.items() if path.exists() and path.read_text(encoding='utf-8', errors='replace') != text]
    if others and not arguments.force:
        sys.exit(f'tenfold_cyto_dl: nothing is copied: {", ".join(others)} differ; --force replaces them')
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
            print(path)
    except OSError as error:
        sys.exit(f'tenfold_cyto_dl: {error}')


if __name__ == '__main__':
    main()
