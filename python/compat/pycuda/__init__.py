"""What TensorRT's scripts use of PyCUDA: `driver` and `autoinit`, for machines without it. On a CPU its memory is the host's."""
__all__ = ['autoinit', 'driver']
VERSION = (2024, 1)
VERSION_TEXT = '2024.1 (tenfold)'
