#!/usr/bin/env python3
"""The least that a program in another language does: the C interface by dlopen, here from Python's ctypes. No other package is needed.

  ctypes_min.py LIBTENFOLD_BUILDER [MODEL.onnx]

Builds the model (y = relu(x), three numbers), runs it, prints what comes out. The headers that say the rest: include/tenfold/c.
"""
import ctypes
import pathlib
import sys

lib = ctypes.CDLL(sys.argv[1])   # it opens the runtime library, whose functions are then found through it, too
lib.tenfold_last_error.restype = ctypes.c_char_p
lib.tenfold_status_name.restype = ctypes.c_char_p
model = sys.argv[2] if len(sys.argv) > 2 else str(pathlib.Path(__file__).parent.parent / 'tests' / 'install' / 'relu.onnx')


def ok(status: int) -> None:
    """Every function that can fail returns a status: 0, or a number with a name and a text."""
    if status:
        sys.exit(f'{lib.tenfold_status_name(status).decode()}: {lib.tenfold_last_error().decode()}')


class Binding(ctypes.Structure):
    """tenfold_binding_info. struct_size says how many of its fields this program knows: newer libraries fill in no more."""
    _fields_ = [('struct_size', ctypes.c_size_t), ('name', ctypes.c_char_p), ('dtype', ctypes.c_char_p),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('rank', ctypes.c_int32), ('is_input', ctypes.c_int32)]


engine, context = ctypes.c_void_p(), ctypes.c_void_p()
ok(lib.tenfold_build_file(model.encode(), None, ctypes.byref(engine)))   # null: the defaults of tenfold/c/build.h
ok(lib.tenfold_context_create(engine, ctypes.byref(context)))            # one for each thread

x, y = (ctypes.c_float * 3)(-1, 0, 2), (ctypes.c_float * 3)()
for i, memory in enumerate((x, y)):                                      # inputs come first
    binding = Binding(struct_size=ctypes.sizeof(Binding))
    ok(lib.tenfold_engine_binding(engine, i, ctypes.byref(binding)))
    print('input ' if binding.is_input else 'output', binding.name.decode(), binding.dtype.decode(), binding.shape[:binding.rank])
    if binding.is_input:
        ok(lib.tenfold_context_set_shape(context, i, (ctypes.c_int64 * 1)(3), 1))
    ok(lib.tenfold_context_bind(context, i, memory, ctypes.c_size_t(ctypes.sizeof(memory))))
ok(lib.tenfold_context_run(context))
print(list(y))

lib.tenfold_context_free(context)
lib.tenfold_engine_free(engine)
