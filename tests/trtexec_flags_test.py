#!/usr/bin/env python3
"""The flags of trtexec 8.6 and 10.16: trtexec_flags_test.py TENFOLD. Each is taken, taken with a line, or refused with the reason."""

import json
import os
import pathlib
import re
import shlex

import cli_case
from cli_case import ONCE, CliCase

# What a user copies out of a guide; model.onnx lies in the working folder.
SEED = """trtexec --onnx=model.onnx \\
  --saveEngine=model.engine \\
  --fp16 \\
  --workspace=1024"""

# All the names of both, beside those that every test of the command line uses.
WITH_A_LINE = [
    '--workspace=1024', '--batch=1', '--maxBatch=1', '--sparsity=enable', '--runtimePlatform=SameAsBuild', '--separateProfileRun',
    '--timeRefit', '--timeDeserialize', '--directIO', '--noCompilationCache', '--asyncFileReader', '--explicitBatch',
    '--explicitPrecision', '--int4', '--minTiming=3', '--heuristic', '--tempdir=/tmp',
    '--tempfileControls=in_memory:allow', '--preview=+profileSharing0806', '--exposeDMA', '--sleepTime=1', '--tilingOptimizationLevel=2',
    '--l2LimitForTiling=1024', '--persistentCacheRatio=0.5', '--maxAuxStreams=2', '--allocationStrategy=static', '--useManagedMemory',
    '--allowWeightStreaming', '--pluginInstanceNorm', '--decomposableAttentions', '--useRuntime=full', '--leanDLLPath=x.so',
    '--excludeLeanRuntime', '--ignoreParsedPluginLibs', '--allowGPUFallback', '--tacticSources=-CUBLAS',
    '--memPoolSize=tacticSharedMem:1', '--calibProfile=0', "--minShapesCalib='x:0':3x6",
    "--optShapesCalib='x:0':3x6", "--maxShapesCalib='x:0':3x6",
]  # fmt: skip
TAKEN = [
    '--avgTiming=4', '--maxTactics=1', '--idleTime=1', '--versionCompatible', '--vc', '--hardwareCompatibilityLevel=ampere+', '--refit',
    '--noTF32', '--dumpOptimizationProfile', '--monitorMemory', '--nvtxMode=default', '--noDeviceCode', '--tacticSources=-CUDNN',
    '--errorOnTimingCacheMiss', '--percentile=99', '--noBuilderCache', '--dumpRefit', '--streams=1', '--best', '--stronglyTyped',
    '--precisionConstraints=none', '--layerPrecisions=*:fp16', '--layerOutputTypes=*:fp16',
]  # fmt: skip
REFUSED = [
    '--useDLACore=0', '--buildDLAStandalone', '--adjustForDLA', '--reportCapabilityDLA', '--uint8AsymmetricQuantizationDLA', '--safe',
    '--restricted', '--consistency', '--safetyPlugins=x.so', '--staticPlugins=x.so', '--dynamicPlugins=x.so',
    '--setPluginsToSerialize=x.so', '--enablePluginOverride', '--cpuOnly', '--remoteAutoTuningConfig=x',
    '--layerDeviceTypes=*:DLA', '--uff=x.uff', '--model=x.caffemodel', '--deploy=x', '--output=y', '--stripWeights', '--stripAllWeights',
    '--weightStreamingBudget=1', '--markDebug=x', '--markUnfusedTensorsAsDebugTensors', '--saveDebugTensors=x', '--saveAllDebugTensors=npy',
    '--loadRefOutputs=x', '--refPair=x', '--accuracyAlgorithm=l2', '--accuracyThreshold=1', '--atol=1', '--rtol=1',
    '--dumpRawBindingsToFile', '--tuneBuildRoutes', '--tuneBuildRouteFile=x', '--setBuildRoute=x', '--helpBuildRoute',
    '--tuningSearch=fast', '--tuningCacheFile=x', '--tuningTimeOut=1', '--saveAllEngines', '--dryRun', '--continue',
    '--distributiveIndependence', '--dumpKernelText', '--sparsity=force', '--batch=4', '--maxBatch=4',
    '--runtimePlatform=windowsAmd64',
]  # fmt: skip


class TrtexecFlags(CliCase):
    def run_model(self, *flags, **options):
        return self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':3x6", '--skipInference', *ONCE, *flags, **options)

    def test_what_changes_no_result_is_told_in_one_line(self):
        for flag in WITH_A_LINE:
            lines = [line for line in self.run_model(flag).stderr.splitlines() if flag.split('=')[0] in line]
            self.assertEqual(len(lines), 1, f'{flag}\n{lines}')
            self.assertRegex(lines[0], r'\[W\] --\w+.*( has no effect|is taken as)')

    def test_what_is_known_here_is_taken(self):
        for flag in TAKEN:
            done = self.run_model(flag)
            self.assertNotIn(f'{flag.split("=")[0]} has no effect', done.stderr, flag)

    def test_what_would_give_something_else_is_refused_with_the_reason(self):
        for flag in REFUSED:
            self.refused(2, 'is not supported by Tenfold: ', 'exec', f'--onnx={self.model}', flag, *ONCE)

    def test_nothing_is_refused_that_helps_with_it(self):
        help_text = self.tenfold('exec', '--help=all').stdout
        for flag in [*WITH_A_LINE, *TAKEN]:
            self.assertRegex(help_text, r'\n  ' + flag.split('=')[0] + r'\b', flag)

    def as_trtexec(self, *arguments, **options):
        link = self.path('trtexec')
        if not os.path.exists(link):
            os.symlink(cli_case.TENFOLD, link)
        return self.tenfold(*arguments, program=[link], cwd=self.folder, **options)

    def test_the_command_of_a_guide_runs_as_written(self):
        os.rename(self.model, self.path('model.onnx'))
        words = shlex.split(SEED.replace('\\\n', ''))
        self.assertEqual(words[0], 'trtexec')
        done = self.as_trtexec(*words[1:])
        self.assertIn('&&&& PASSED TensorRT.trtexec', done.stdout)
        self.assertRegex(done.stdout, r'Throughput: [\d.]+ qps')
        self.assertIn('--workspace=1024 is taken as --memPoolSize=workspace:1024', done.stderr)
        again = self.as_trtexec('--loadEngine=model.engine', *ONCE)
        self.assertIn('PASSED', again.stdout)

    def test_the_device_of_trtexec(self):
        gpu = 'cuda:' in ''.join(re.findall(r'^cuda:\d', self.tenfold('devices').stdout, re.M))
        run = [f'--onnx={self.model}', "--shapes='x:0':3x6", *ONCE]
        done = self.as_trtexec(*run)
        lines = [line for line in done.stderr.splitlines() if 'as trtexec the device' in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn('cuda:0' if gpu else 'it is the CPU', lines[0])
        self.assertNotIn('as trtexec', self.as_trtexec(*run, '--device=cpu').stderr)
        self.assertNotIn('as trtexec', self.tenfold('exec', *run).stderr)

    def test_one_dash_and_other_slips(self):
        self.refused(2, 'unknown flag -onnx: flags begin with two dashes: --onnx', 'exec', f'-onnx={self.model}', *ONCE)
        self.refused(2, 'unknown flag --onx; did you mean --onnx?', 'exec', f'--onx={self.model}', *ONCE)

    def test_sources_by_the_names_of_both(self):
        for sources, reference_alone in (('reference', True), ('CUDNN', False), ('-native', True), ('-CUBLAS,-CUDNN,-CUBLAS_LT', False)):
            layers = self.run_model('--dumpLayerInfo', f'--tacticSources={sources}').stdout
            self.assertEqual('kernel ' not in layers, reference_alone, f'{sources}\n{layers}')

    def test_shape_ranges_and_versions_are_printed(self):
        plan = self.make_plan('r.plan', None, "--minShapes='x:0':1x6", "--optShapes='x:0':2x6", "--maxShapes='x:0':4x6")
        done = self.tenfold('exec', f'--loadEngine={plan}', '--dumpOptimizationProfile', *ONCE)
        self.assertIn("'x:0': min 1x6, opt 2x6, max 4x6", done.stdout)
        version = self.tenfold('--version').stdout.strip()
        done = self.tenfold('exec', f'--loadEngine={plan}', '--getPlanVersionOnly')
        self.assertIn(f'The plan was built by {version}.', done.stdout)
        self.assertRegex(done.stdout, r'Its file has format \d+, which this version reads')
        self.assertNotIn('Performance summary', done.stdout)
        self.assertNotIn('deserialized', done.stdout + done.stderr)

    def test_types_are_judged_before_the_build(self):
        done = self.refused(2, 'has 2 entries for 1 tensors', 'exec', f'--onnx={self.model}', '--inputIOFormats=fp16:chw,fp16:chw', *ONCE)
        self.assertNotIn('Engine built', done.stderr)

    def test_the_first_run_stands_apart(self):
        done = self.tenfold('exec', f'--onnx={self.model}', "--shapes='x:0':3x6", '--json', '--duration=0', '--warmUp=5')
        self.assertRegex(done.stdout, r'First run: [\d.e-]+ ms')
        self.assertGreater(json.loads(done.stdout.splitlines()[-1])['first_run_ms'], 0)


class Compatible(CliCase):
    """Plans for other versions and devices."""

    def test_a_plan_for_every_cpu(self):
        for flag in ('--hardwareCompatibilityLevel=ampere+', '--hardwareCompatibilityLevel=none'):
            plan = self.make_plan('h.plan', None, "--shapes='x:0':3x6", flag)
            needs = re.search(r'needs ([a-z0-9 ]+)\)', self.tenfold('inspect', plan).stdout)[1]
            if 'none' not in flag:
                self.assertEqual(needs, 'avx2')

    def test_the_version_told_is_that_of_the_file(self):
        """Not of the plan that this version makes of it, nor of this version: the file is for CPU features that the run may not use."""
        plan = self.make_plan('v.plan', None, "--shapes='x:0':3x6", '--versionCompatible')
        raw = bytearray(pathlib.Path(plan).read_bytes())
        name = self.tenfold('--version').stdout.strip().encode()
        self.assertEqual(raw.count(name), 2)   # the metadata's and the section that every version reads
        done = self.tenfold('exec', f'--loadEngine={plan}', '--getPlanVersionOnly', env={**os.environ, 'TENFOLD_CPU_FEATURES': 'avx2'})
        self.assertIn(name.decode(), done.stdout)
        self.assertNotIn('built again', done.stdout + done.stderr)
        self.refused(4, 'm.onnx', 'exec', f'--loadEngine={self.model}', '--getPlanVersionOnly')

    def test_a_damaged_plan_is_not_built_again(self):
        plan = pathlib.Path(self.make_plan('d.plan', None, "--shapes='x:0':3x6", '--versionCompatible'))
        whole = bytearray(plan.read_bytes())
        for at in range(40, len(whole), max(1, len(whole) // 40)):
            damaged = bytearray(whole)
            damaged[at] ^= 0x20
            plan.write_bytes(damaged)
            self.refused(4, 'd.plan', 'exec', f'--loadEngine={plan}', *ONCE)


if __name__ == '__main__':
    cli_case.main()
