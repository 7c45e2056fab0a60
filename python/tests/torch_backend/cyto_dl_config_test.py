"""python -m tenfold.export_to_tensorrt --config: Hydra's configurations, checkpoints and presets."""
import contextlib
import io
import os
import sys

from torch_case import tenfold, torch, unittest

from cyto_dl_case import COMPAT, HYDRA, PLACE, CytoCase, network

from tenfold.export_to_tensorrt import _config, load_plan
from tenfold.export_to_tensorrt._command import main


class Unknown:
    """What no checkpoint that is loaded safely holds."""


@unittest.skipUnless(HYDRA, 'hydra-core is not installed')
class ConfigCase(CytoCase):
    def setUp(self):
        super().setUp()
        self.checkout()
        self.checkpoint('best.ckpt')
        before = os.getcwd(), list(sys.path)
        self.addCleanup(lambda: (os.chdir(before[0]), sys.path.__setitem__(slice(None), before[1]), sys.modules.pop('cyto_dl_network', 0)))
        os.chdir(self.folder)
        sys.path.insert(0, self.folder)

    def export(self, *flags, config='configs/experiment/im2im/labelfree.yaml', ckpt='best.ckpt'):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            main(['--config', config, '--ckpt', ckpt, '--output', 'm.plan', '--device', PLACE, *map(str, flags)])
        return said.getvalue()

    def wrong(self, words, *flags, **files):
        with self.assertRaises(SystemExit) as caught:
            self.export(*flags, **files)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertFalse(os.path.exists('m.plan'))

    def check(self, dims, *shape):
        x = torch.randn(shape)
        self.near(load_plan('m.plan')(x.numpy()), network(dims)(x).detach(), 2e-2)


class Configurations(ConfigCase):
    def test_an_experiment_in_its_folder(self):
        """The shape is the patch of the configuration."""
        self.export('--precision', 'fp32')
        self.check(2, 1, 1, 32, 32)
        self.checkpoint('volumes.ckpt', 3)
        self.export(config='configs/experiment/im2im/segmentation.yaml', ckpt='volumes.ckpt')
        self.check(3, 1, 1, 16, 16, 16)

    def test_a_file_alone(self):
        self.write('own.yaml', '_target_: cyto_dl_network.Network\nchannels: 4\n')
        self.export('--input-shape', 1, 1, 20, 24, config='own.yaml')
        self.check(2, 1, 1, 20, 24)
        os.remove('m.plan')
        self.wrong(['--input-shape is needed', 'own.yaml'], config='own.yaml')

    def test_overrides(self):
        self.wrong(['best.ckpt does not fit', 'size mismatch'], '--override', 'model.channels=5')
        self.wrong(['labelfree.yaml', 'model.nothing'], '--override', 'model.nothing.at.all=5')

    def test_presets(self):
        """As they are copied into a checkout."""
        folder = os.path.join('configs', 'inference')
        os.symlink(COMPAT / 'cyto' / 'tenfold_cyto_dl' / 'configs' / 'inference', folder)
        config = _config.load_config('configs/experiment/im2im/labelfree.yaml', ['inference=tensorrt_fp16'])
        self.assertEqual(dict(config.tensorrt), {'precision': 'fp16', 'workspace_size': 4, 'dynamic_shapes': False})
        self.export('--override', 'inference=tensorrt_dynamic')
        plan = load_plan('m.plan')
        self.assertEqual([shape[0] for shape in plan.profile_shapes(0, plan.bindings[0].name)], [1, 8, 32])
        os.remove('m.plan')
        self.wrong(['--precision int8 needs --calibration-data'], '--override', 'inference=tensorrt_int8')
        self.export('--override', 'inference=tensorrt_int8', '--precision', 'fp32')   # a flag stands before a preset

    def test_wrong_configurations(self):
        self.write('broken.yaml', 'a: [')
        self.write('nothing.yaml', 'a: 1')
        self.write('other.yaml', '_target_: no_such_module.Network')
        self.write('defaults.yaml', 'defaults: [a]')
        self.write('open.yaml', 'model: {_target_: cyto_dl_network.Network, channels: "${none}"}')
        for name, words in (('none', 'there is no such file'), ('broken', 'is no YAML'), ('nothing', 'model._target_'),
                            ('other', 'no_such_module'), ('defaults', 'train.yaml or eval.yaml'), ('open', "'none'")):
            self.wrong([f'--config {name}.yaml', words], '--input-shape', 1, 1, 16, 16, config=f'{name}.yaml')


class Checkpoints(ConfigCase):
    def test_only_tensors_are_loaded_unless_all_is_trusted(self):
        self.checkpoint('more.ckpt', hyper_parameters=Unknown())
        self.wrong(['more.ckpt', 'more than tensors', '--trust-checkpoint'], ckpt='more.ckpt')
        self.export('--trust-checkpoint', ckpt='more.ckpt')
        self.check(2, 1, 1, 32, 32)

    def test_weights_alone_and_of_compiled_modules(self):
        torch.save(network().state_dict(), 'weights.pt')
        self.export(ckpt='weights.pt')
        self.check(2, 1, 1, 32, 32)
        torch.save({'state_dict': {'_orig_mod.' + name: value for name, value in network().state_dict().items()}}, 'compiled.ckpt')
        self.export(ckpt='compiled.ckpt')
        self.check(2, 1, 1, 32, 32)

    def test_wrong_checkpoints(self):
        state = network().state_dict()
        torch.save({'state_dict': {**state, 'more': state['head.bias']}}, 'more.ckpt')
        state.pop('head.bias')
        torch.save({'state_dict': state}, 'less.ckpt')
        torch.save({'epoch': 3}, 'none.ckpt')
        self.write('text.ckpt', 'no checkpoint')
        for name, words in (('missing', 'there is no such file'), ('more', 'it has besides more'), ('less', 'it lacks head.bias'),
                            ('none', 'has no state_dict'), ('text', 'text.ckpt')):
            self.wrong([f'--ckpt {name}.ckpt', words], ckpt=f'{name}.ckpt')

    def test_a_benchmark_beside_the_module(self):
        import json
        said = self.export('--benchmark', '--benchmark-iterations', 5)
        with open('m.benchmark.json') as file:
            found = json.load(file)
        self.assertTrue(all(value > 0 for value in found.values()), found)
        self.assertRegex(said, r'\| PyTorch +\| [\d.]+ +\| [\d.]+ +\| 1.0x +\|\n\| Tenfold FP16 +\| [\d.]+ +\| [\d.]+ +\| [\d.]+x +\|')
        self.assertIsNotNone(tenfold.load('m.plan'))


if __name__ == '__main__':
    unittest.main()
