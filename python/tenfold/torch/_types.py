"""Element types of torch by Tenfold's names, and by ONNX's numbers."""
from __future__ import annotations

import torch

NAMES = {torch.float32: 'f32', torch.float64: 'f64', torch.float16: 'f16', torch.bfloat16: 'bf16', torch.int64: 'i64', torch.int32: 'i32',
         torch.int16: 'i16', torch.int8: 'i8', torch.uint8: 'u8', torch.bool: 'bool'}
TORCH = {name: dtype for dtype, name in NAMES.items()}
ONNX = {'f32': 1, 'u8': 2, 'i8': 3, 'i16': 5, 'i32': 6, 'i64': 7, 'bool': 9, 'f16': 10, 'f64': 11, 'bf16': 16}
FLOATS = ('f32', 'f64', 'f16', 'bf16')
