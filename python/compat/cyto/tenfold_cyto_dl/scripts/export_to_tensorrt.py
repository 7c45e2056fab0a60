"""python scripts/export_to_tensorrt.py --config ... --ckpt ... --output ..., by tenfold-cyto-dl: python -m tenfold.export_to_tensorrt."""
import os
import sys

if __name__ == '__main__':
    sys.path.insert(0, os.getcwd())   # as `python -m` does: classes of the checkout are found
    from tenfold.export_to_tensorrt._command import main
    main()
