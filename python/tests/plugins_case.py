"""What tests of operators in Python share: a model with one of them, and Snake (Ziyin et al. 2020), whose truth is NumPy's."""
import numpy as np
from case import QUICK, Case, TensorProto, helper, model

import tenfold
from tenfold import _registry, plugins

DOMAIN = 'com.example'
PROFILE_OF_SIX = ([1, 6], [4, 6], [8, 6])


def snake_truth(x, alpha):
    return x + np.sin(alpha * x) ** 2 / alpha


def model_of(op, inputs=('x',), outputs=(('y', TensorProto.FLOAT, ['batch', 6]),), **attributes):
    """y = Relu(op(x, ...)): one known operator behind it. Every input is f32[batch, 6]."""
    inner = [f'{name}_of_op' for name, *_ in outputs]
    nodes = [helper.make_node(op, inputs, inner, name='mine', domain=DOMAIN, **attributes)]
    nodes += [helper.make_node('Identity', [i], [name], name=f'last_{name}') for i, (name, *_) in zip(inner, outputs)]
    made = model(nodes, [(i, TensorProto.FLOAT, ['batch', 6]) for i in dict.fromkeys(inputs) if i], outputs)
    made.opset_import.add(domain=DOMAIN, version=1)
    return made


def build(proto, **options):
    shapes = {i.name: PROFILE_OF_SIX for i in proto.graph.input}
    return tenfold.build(proto, profiles=shapes, **{**QUICK, **options})


def only(name, seen=None):
    """choose_tactic= of the operator's tactic of that name."""
    def choose(node, problem, candidates):
        names = [tactic for tactic, _, _ in candidates]
        if seen is not None and 'com.example' in problem:
            seen.extend(names)
        return next((i for i, n in enumerate(names) if f' {name} ' in n), None)
    return choose


class Plugged(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: [_registry.forget(name) for name in list(_registry._operators)])

    def snake(self, **keywords):
        @plugins.op('com.example::Snake', alpha=1.0, **keywords)
        def snake(x, alpha):
            return snake_truth(x, np.float32(alpha))
        return snake
