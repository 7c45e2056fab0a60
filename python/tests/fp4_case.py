"""Weights of e2m1 as MXFP4 and NVFP4, by ml_dtypes and NumPy in f64, and decoders whose folders have them."""
import json
import struct

import ml_dtypes
import numpy as np
from decoders_case import RandomDecoder
from embeddings_case import save_safetensors
from narrow_folders_case import LINEAR

BLOCKS = {'mxfp4': 32, 'nvfp4': 16}


class Fp4:
    """w of [out, in] as codes, codes of scales of [out, blocks], the global scale, and the floats that they stand for."""

    def __init__(self, w, kind):
        out, into = w.shape
        padded = np.pad(np.asarray(w, np.float32), ((0, 0), (0, -into % BLOCKS[kind])))   # the last block may be shorter
        groups = padded.reshape(out, -1, BLOCKS[kind])
        largest = np.abs(groups).max(-1)
        if kind == 'nvfp4':
            self.globe = np.float32(448 * 6) / largest.max()
            self.scale_codes = (largest / np.float32(6) * self.globe).astype(ml_dtypes.float8_e4m3fn)
            scales = self.scale_codes.astype(np.float64) / np.float64(self.globe)
        else:
            self.globe = np.float32(1)
            self.scale_codes = (np.floor(np.log2(largest)) - 2 + 127).astype(np.uint8)
            scales = 2.0 ** (self.scale_codes.astype(np.float64) - 127)
        values = (groups / scales[..., None].astype(np.float32)).astype(ml_dtypes.float4_e2m1fn)
        self.codes = values.view(np.uint8).reshape(out, -1)[:, :into] & 15
        self.floats = (values.astype(np.float64) * scales[..., None]).reshape(out, -1)[:, :into]

    def packed(self):
        return self.codes[:, ::2] | self.codes[:, 1::2] << 4


def decoded(tensors, name, kind):
    """The floats of a layer of compressed-tensors."""
    packed = tensors[name + '.weight_packed']
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1)
    values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64).reshape(len(packed), -1, BLOCKS[kind])   # blocks divide rows here
    scale = tensors[name + '.weight_scale']
    if kind == 'nvfp4':
        scale = scale.view(ml_dtypes.float8_e4m3fn).astype(np.float64) / np.float64(tensors[name + '.weight_global_scale'][0])
    else:
        scale = 2.0 ** (scale.astype(np.float64) - 127)
    return (values * scale[..., None]).reshape(len(packed), -1)


def read_safetensors(path):
    types = {'F32': np.float32, 'U8': np.uint8, 'F8_E4M3': np.uint8}
    with open(path, 'rb') as file:
        table = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        body = file.read()
    return {name: np.frombuffer(body[slice(*one['data_offsets'])], types[one['dtype']]).reshape(one['shape'])
            for name, one in table.items() if name != '__metadata__'}


def config_of(kind, **more):
    weights = {'num_bits': 4, 'type': 'float', 'symmetric': True, 'strategy': 'tensor_group' if kind == 'nvfp4' else 'group',
               'group_size': BLOCKS[kind], 'dynamic': False}
    return {'quant_method': 'compressed-tensors', 'format': kind + '-pack-quantized', 'ignore': ['lm_head'],
            'config_groups': {'group_0': {'targets': ['Linear'], 'weights': {**weights, **more}, 'input_activations': None}},
            'quantization_status': 'compressed'}


class Fp4Decoder(RandomDecoder):
    """A random decoder; `weights` are the floats that its fp4 stands for, which the folder has only without `in_folder`."""

    def __init__(self, folder, kind, fp4, in_folder=True, **more):
        super().__init__(folder, kind, width=96, wide=192)
        self.layers, stored = [], {}
        for full, w in list(self.weights.items()):
            name = full.removesuffix('.weight')
            if name == full or not LINEAR.match(name):
                stored[full] = w
                continue
            by_input = self.type == 'gpt2'
            r = Fp4(w.T if by_input else w, fp4)
            stored[name + '.weight_packed'], stored[name + '.weight_scale'] = r.packed(), r.scale_codes
            if fp4 == 'nvfp4':
                stored[name + '.weight_global_scale'] = np.array([r.globe], np.float32)
            self.weights[full] = r.floats.T if by_input else r.floats
            self.layers.append(name)
        if in_folder:
            self.stored = stored
            self.config['quantization_config'] = config_of(fp4, **more)
            save_safetensors(self.path('model.safetensors'), stored)
            self.save('config.json', self.config)
