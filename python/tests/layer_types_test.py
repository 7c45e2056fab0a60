"""Types of single layers from Python: what is obeyed, what is noted, and what such a request may do wrong."""
import unittest

from case import PROFILE, QUICK, Case, tanh_model

import tenfold

OPTIONS = dict(device='cpu', profiles=PROFILE, **{k: v for k, v in QUICK.items() if k != 'device'})


def built(**layer_types):
    return tenfold.build(tanh_model(), layer_types=layer_types, **OPTIONS)


class LayerTypes(Case):
    def test_what_cannot_be_had_is_noted_or_refused(self):
        engine = built(precisions={'*': 'f16'})
        self.assertTrue(any('not f16 as asked for' in note.text for note in engine.notes), engine.notes)
        self.refused(tenfold.Unsupported, 'not f16 as asked for', built, constraints='obey', precisions={'*': 'f16'})
        built(constraints='none', precisions={'*': 'f16'})
        built(constraints='obey', precisions={'*': 'f32'}, output_types={'*': ['f32']})

    def test_wrong_requests_are_refused(self):
        self.refused(ValueError, 'no node of the model', built, precisions={'no such layer': 'f32'})
        for wrong in (dict(precisions={'*': 'float33'}), dict(constraints='always'), dict(layers={}), dict(output_types={'*': 3})):
            self.refused(TypeError, "'layer_types' takes", built, **wrong)

    def test_the_device_may_choose(self):
        notes = tenfold.build(tanh_model(), auto_precision=True, **OPTIONS).notes
        self.assertTrue(any(note.text.startswith('precision was chosen by the device: this CPU has') for note in notes), notes)


if __name__ == '__main__':
    unittest.main()
