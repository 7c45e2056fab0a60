"""Engines whose answers depend on the place in the window."""
import os
import sys

import window_cases

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import QUICK, TensorProto, helper, model, numpy_helper  # noqa: E402

import tenfold  # noqa: E402


def noise(*shape, seed=5):
    return window_cases.noise(seed, *shape)


def network(batch='n', dtype=TensorProto.FLOAT, roi=(8, 6), names=('y',)):
    """A convolution that pads, and then a factor for each voxel: both depend on the place in the window."""
    rank = len(roi)
    weights = {'w': noise(3, 2, *[3] * rank, seed=1), 'mask': noise(3, *roi, seed=2)}
    nodes = [helper.make_node('Cast', ['x'], ['f'], to=TensorProto.FLOAT),
             helper.make_node('Conv', ['f', 'w'], ['c'], pads=[1] * 2 * rank),
             helper.make_node('Mul', ['c', 'mask'], ['y'])]
    outputs = [('y', TensorProto.FLOAT, [batch, 3, *roi])]
    if len(names) == 2:
        nodes.append(helper.make_node('AveragePool', ['c'], ['a'], kernel_shape=[2] * rank, strides=[2] * rank))
        outputs.append(('a', TensorProto.FLOAT, [batch, 3, *(n // 2 for n in roi)]))
    return model(nodes, [('x', dtype, [batch, 2, *roi])], outputs,
                 [numpy_helper.from_array(array, name) for name, array in weights.items()])


def engine(roi=(8, 6), **options):
    profile = [[batch, 2, *roi] for batch in (1, 4, 4)]
    dynamic = {} if 'batch' in options else {'profiles': {'x': profile}}
    return tenfold.build(network(roi=roi, **options), **dynamic, **QUICK)
