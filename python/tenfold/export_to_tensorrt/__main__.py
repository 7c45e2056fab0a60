"""python -m tenfold.export_to_tensorrt."""
from tenfold.export_to_tensorrt._command import main

if __name__ == '__main__':
    main()
