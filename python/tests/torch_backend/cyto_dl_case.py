"""What tests of tenfold-cyto-dl beside torch share: a network with a configuration and a checkpoint, as CytoDL's users have them."""
import importlib.util
import os
import pathlib
import subprocess
import sys

from torch_case import TorchCase, logging, torch

from seeds_case import TREE

COMPAT = TREE / 'python' / 'compat'
if not importlib.util.find_spec('tenfold_cyto_dl'):   # pure Python, so that the tree does where the wheel is not installed
    sys.path.insert(0, str(COMPAT / 'cyto'))
PATHS = os.pathsep.join([str(COMPAT / 'cyto'), os.environ.get('PYTHONPATH', '')])
HYDRA, MONAI = (importlib.util.find_spec(name) for name in ('hydra', 'monai'))
GPU = torch.cuda.is_available()
PLACE = 'cuda' if GPU else 'cpu'

# A configuration's network: a residual block and a head, in 2 or 3 dimensions.
NETWORK = '''
import torch
class Network(torch.nn.Module):
    def __init__(self, spatial_dims=2, channels=4, **others):
        super().__init__()
        conv = {2: torch.nn.Conv2d, 3: torch.nn.Conv3d}[spatial_dims]
        self.first, self.second, self.head = conv(1, channels, 3, padding=1), conv(channels, channels, 3, padding=1), conv(channels, 2, 1)
    def forward(self, x):
        x = torch.relu(self.first(x))
        return self.head(torch.relu(x + self.second(x)))
'''
CONFIG = '''# @package _global_
defaults:
  - override /model: net
raw_im_channels: 1
spatial_dims: {dims}
data:
  _aux:
    patch_shape: {patch}
'''
TRAIN = '''# @package _global_
defaults:
  - _self_
  - model: null
  - optional inference: null
  - experiment: null
spatial_dims: 2
paths:
  output_dir: ${{hydra:runtime.output_dir}}
'''.replace('{{', '{').replace('}}', '}')
MODEL = '''
_target_: cyto_dl_network.Network
spatial_dims: ${spatial_dims}
channels: 4
save_dir: ${paths.output_dir}
heads: ${kv_to_dict:${model._aux._tasks}}
_aux:
  _tasks: [[a, 1], [b, 2]]
'''


def network(dims=2):
    names = {}
    exec(NETWORK, names)
    torch.manual_seed(dims)
    return names['Network'](dims).eval()


class CytoCase(TorchCase):
    def write(self, name, text):
        path = pathlib.Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def checkout(self):
        """A folder as CytoDL's: configurations of Hydra, and the network that they name."""
        self.write('cyto_dl_network.py', NETWORK)
        self.write('configs/train.yaml', TRAIN)
        self.write('configs/model/net.yaml', MODEL)
        for name, dims, patch in (('labelfree', 2, [32, 32]), ('segmentation', 3, [16, 16, 16]), ('mae', 3, [16, 16, 16])):
            self.write(f'configs/experiment/im2im/{name}.yaml', CONFIG.format(dims=dims, patch=patch))

    def checkpoint(self, name, dims=2, **others):
        path = self.write(name, '')
        torch.save({'state_dict': network(dims).state_dict(), **others}, path)
        return path

    def process(self, *command, code=0, **options):
        done = subprocess.run(list(map(str, command)), cwd=self.folder, capture_output=True, text=True, timeout=600,
                              env={**os.environ, 'PYTHONPATH': os.pathsep.join([self.folder, PATHS])}, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr


__all__ = ['COMPAT', 'GPU', 'HYDRA', 'MONAI', 'PATHS', 'PLACE', 'CytoCase', 'logging', 'network']
