"""TensorRT's plug-ins that ONNX files name, beside their published definitions, which NumPy computes here one box and one element at a
time."""
import unittest

import numpy as np
from case import Case, helper
from onnx import ValueInfoProto

import tenfold.onnxruntime

RANDOM = np.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def boxes_of(*shape):
    corner = RANDOM.random((*shape, 2)).astype(np.float32)
    return np.concatenate([corner, corner + RANDOM.random((*shape, 2)).astype(np.float32) * np.float32(0.5)], -1)


def share(a, b, border=0.0):
    """Intersection over union of two boxes of ordered corners."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + border
    if (sides <= 0).any():
        return 0.0
    common = sides.prod()
    return common / ((a[2:] - a[:2] + border).prod() + (b[2:] - b[:2] + border).prod() - common)


def ordered(box):
    return np.concatenate([np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])])


def efficient_nms(boxes, scores, *, score, iou, most, background=-1, agnostic=False, of_class=None):
    """Rows of (image, box, class, score), best first, for each image. Boxes are corners, [images, boxes, 1 or classes, 4]."""
    result = []
    for image in range(len(boxes)):
        found = [(-scores[image, b, c], b, c) for b in range(scores.shape[1]) for c in range(scores.shape[2])
                 if scores[image, b, c] >= score and c != background]
        kept, rows = [], []
        for negative, b, c in sorted(found, key=lambda f: f[0]):
            box = boxes[image, b, min(c, boxes.shape[2] - 1)]
            if len(rows) == most or any((agnostic or c == other) and share(ordered(box), ordered(at)) >= iou for other, at in kept):
                continue
            kept.append((c, box))
            if of_class is None or sum(c == other for other, _ in kept) <= of_class:
                rows.append((image, b, c, -negative))
        result.append(rows)
    return result


def filled(boxes, found, most, empty=0):
    """The four results of fixed sizes."""
    images = len(boxes)
    number, at = np.zeros((images, 1), np.int32), np.zeros((images, most, 4), np.float32)
    scores, classes = np.zeros((images, most), np.float32), np.full((images, most), empty, np.int32)
    indices = np.zeros((images, most), np.int32)
    for i, rows in enumerate(found):
        number[i] = len(rows)
        for k, (_, b, c, s) in enumerate(rows):
            at[i, k], scores[i, k], classes[i, k], indices[i, k] = boxes[i, b, min(c, boxes.shape[2] - 1)], s, c, b
    return number, at, scores, classes, indices


def corners(boxes):
    return np.concatenate([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


class Plugins(Case):
    def results(self, op, operands, outputs, domain='TRT', types=None, **attributes):
        names = [f'x{i}' for i in range(len(operands))]
        out = [f'y{i}' for i in range(outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, names, out, domain=domain, **attributes)], 'g',
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), [f'{n}_{d}' for d in range(a.ndim)] if types else
                                           a.shape) for n, a in zip(names, operands)],
            [ValueInfoProto(name=n) for n in out])   # of types that follow
        opsets = [helper.make_opsetid('', 17)] + ([helper.make_opsetid(domain, 1)] if domain else [])
        proto = helper.make_model(graph, ir_version=9, opset_imports=opsets).SerializeToString()
        session = tenfold.onnxruntime.InferenceSession(proto, providers=['CPUExecutionProvider'], tune='never', tf32=False)
        return session.run(None, dict(zip(names, operands)))

    def compare(self, found, expected, rtol=1e-5, atol=1e-6):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)

    def test_efficient_nms(self):
        boxes, scores = boxes_of(2, 30), RANDOM.random((2, 30, 4)).astype(np.float32)
        expected = filled(boxes[:, :, None], efficient_nms(boxes[:, :, None], scores, score=0.3, iou=0.4, most=12), 12)
        for domain in ('TRT', '', 'trt.plugins'):
            self.compare(self.results('EfficientNMS_TRT', [boxes, scores], 4, domain, plugin_version='1', score_threshold=0.3,
                                      iou_threshold=0.4, max_output_boxes=12, background_class=[-1], score_activation=0, box_coding=0),
                         expected[:4])
        self.compare(self.results('EfficientNMSX_TRT', [boxes, scores], 5, score_threshold=0.3, iou_threshold=0.4, max_output_boxes=12),
                     expected)
        self.assertTrue((expected[0] > 2).all())

    def test_efficient_nms_of_classes_centers_and_raw_scores(self):
        for agnostic in (False, True):
            boxes, raw = boxes_of(1, 20, 3), floats(1, 20, 3)
            scores = (1 / (1 + np.exp(-raw))).astype(np.float32)
            found = efficient_nms(corners(boxes), scores, score=0.2, iou=0.3, most=60, background=1, agnostic=agnostic)
            self.compare(self.results('EfficientNMS_TRT', [boxes, raw], 4, score_threshold=0.2, iou_threshold=0.3, max_output_boxes=60,
                                      background_class=1, score_activation=1, class_agnostic=int(agnostic), box_coding=1),
                         filled(corners(boxes), found, 60)[:4])

    def test_efficient_nms_decodes_what_is_relative_to_anchors(self):
        scores = RANDOM.random((2, 15, 2)).astype(np.float32)
        deltas, anchors = floats(2, 15, 4) * np.float32(0.3), boxes_of(1, 15)
        for coding in (0, 1):
            if coding:
                decoded = corners(np.concatenate([deltas[..., :2] * anchors[..., 2:] + anchors[..., :2],
                                                  anchors[..., 2:] * np.exp(deltas[..., 2:])], -1))
            else:
                decoded = np.apply_along_axis(ordered, 2, deltas) + anchors
            found = efficient_nms(decoded[:, :, None], scores, score=0.1, iou=0.5, most=30)
            self.compare(self.results('EfficientNMS_TRT', [deltas, scores, anchors], 4, score_threshold=0.1, iou_threshold=0.5,
                                      max_output_boxes=30, box_coding=coding), filled(decoded[:, :, None], found, 30)[:4])

    def test_nms_of_tensorflow(self):
        boxes, scores = boxes_of(2, 25, 1) * np.float32(1.5), RANDOM.random((2, 25, 3)).astype(np.float32)
        found = efficient_nms(boxes, scores, score=0.3, iou=0.9, most=6, of_class=2)
        expected = list(filled(boxes, found, 6))
        expected[1] = np.clip(expected[1], 0, 1)
        for op in ('EfficientNMS_Explicit_TF_TRT', 'EfficientNMS_Implicit_TF_TRT'):
            self.compare(self.results(op, [boxes, scores], 4, max_output_size_per_class=2, max_total_size=50, iou_threshold=0.9,
                                      score_threshold=0.3, pad_per_class=1, clip_boxes=1), expected[:4])

    def test_efficient_nms_as_a_list_of_indices(self):
        boxes, scores = boxes_of(3, 12), RANDOM.random((3, 12, 2)).astype(np.float32)
        scores[1] = 0
        found = efficient_nms(boxes[:, :, None], scores, score=0.5, iou=0.2, most=5, of_class=5)
        rows = [(i, c, b) for rows in found for i, b, c, _ in rows]
        rows += [rows[-1]] * (15 - len(rows))
        attributes = dict(score_threshold=0.5, iou_threshold=0.2, max_output_boxes_per_class=5)
        self.compare(self.results('EfficientNMS_ONNX_TRT', [boxes, scores], 1, **attributes), [np.array(rows, np.int32)])
        self.compare(self.results('EfficientNMS_ONNX_TRT', [boxes, scores * 0], 1, **attributes), [np.full((15, 3), -1, np.int32)])

    def batched_nms(self, boxes, scores, top, keep, score, iou, background, border):
        found = []
        for image in range(len(boxes)):
            rows = []
            for c in range(scores.shape[2]):
                if c == background:
                    continue
                order = sorted((b for b in range(scores.shape[1]) if scores[image, b, c] > score), key=lambda b: -scores[image, b, c])
                kept = []
                for b in order[:top]:
                    box = ordered(boxes[image, b, min(c, boxes.shape[2] - 1)])
                    if all(share(other, box, border) <= iou for other, _ in kept):
                        kept.append((box, b))
                rows += [(image, b, c, scores[image, b, c]) for _, b in kept]
            found.append(sorted(rows, key=lambda row: -row[3])[:keep])
        number, at, scores, classes, _ = filled(boxes, found, keep, -1)
        return number, at, scores, classes.astype(np.float32)

    def test_batched_nms(self):
        scores = RANDOM.random((2, 20, 3)).astype(np.float32)
        for boxes, op, more in ((boxes_of(2, 20, 1), 'BatchedNMSDynamic_TRT', {}), (boxes_of(2, 20, 3), 'BatchedNMS_TRT', {}),
                                (boxes_of(2, 20, 1) * 40, 'BatchedNMSDynamic_TRT', {'isNormalized': 0, 'clipBoxes': 0})):
            number, at, best, classes = self.batched_nms(boxes, scores, 8, 7, 0.2, 0.3, 2, 1.0 if more else 0.0)
            at = at if more else np.clip(at, 0, 1)
            self.compare(self.results(op, [boxes, scores], 4, shareLocation=int(boxes.shape[2] == 1), backgroundLabelId=2, numClasses=3,
                                      topK=8, keepTopK=7, scoreThreshold=0.2, iouThreshold=0.3, **more), [number, at, best, classes])

    def test_roi_align(self):
        x, rois = floats(2, 3, 12, 10), np.array([[1, 2, 7, 9], [0, 0, 4, 4], [3, 1, 9, 11]], np.float32)
        images = np.array([1, 0, 1], np.int32)
        for shift, mode in ((1, 1), (0, 1), (1, 0)):
            expected = np.zeros((3, 3, 2, 3), np.float32)
            for r, (roi, image) in enumerate(zip(rois, images)):
                x1, y1, x2, y2 = roi * 0.5 - 0.5 * shift
                h, w = (y2 - y1, x2 - x1) if shift else (max(y2 - y1, 1), max(x2 - x1, 1))
                for c, i, j in np.ndindex(3, 2, 3):
                    values = []
                    for a, b in np.ndindex(2, 2):
                        y, xx = y1 + h / 2 * (i + (a + 0.5) / 2), x1 + w / 3 * (j + (b + 0.5) / 2)
                        y, xx = max(y, 0), max(xx, 0)
                        p, q = int(y), int(xx)
                        dy, dx = y - p, xx - q
                        near = [(1 - dy) * (1 - dx) * x[image, c, p, q], (1 - dy) * dx * x[image, c, p, q + 1],
                                dy * (1 - dx) * x[image, c, p + 1, q], dy * dx * x[image, c, p + 1, q + 1]]
                        values.append(sum(near) if mode else max(near))
                    expected[r, c, i, j] = np.mean(values) if mode else max(values)
            self.compare(self.results('ROIAlign_TRT', [x, rois, images], 1, coordinate_transformation_mode=shift, mode=mode,
                                      output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.5), [expected], atol=1e-5)

    def test_instance_normalization(self):
        x, scale, bias = floats(2, 3, 5, 4), floats(3), floats(3)
        mean, variance = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
        y = (x - mean) / np.sqrt(variance + np.float32(1e-3)) * scale[:, None, None] + bias[:, None, None]
        attributes = dict(epsilon=1e-3, scale=scale.tolist(), bias=bias.tolist())
        self.compare(self.results('InstanceNormalization_TRT', [x], 1, **attributes), [y], atol=1e-5)
        self.compare(self.results('InstanceNormalization_TRT', [x, scale, bias], 1, epsilon=1e-3, relu=1, alpha=0.25),
                     [np.where(y > 0, y, y * np.float32(0.25))], atol=1e-5)

    def test_disentangled_attention(self):
        for rows, span in ((6, 8), (40, 8), (33, 16)):
            a, b, c = floats(3, rows, rows), floats(3, rows, 2 * span), floats(3, rows, 2 * span)
            middle, f = span // 2, np.float32
            scale = f(middle - 1) / (np.log(f(2 * span - 1)) - np.log(f(middle))) * (f(1) - f(1e-7))
            expected = np.zeros_like(a)
            for i, j in np.ndindex(rows, rows):
                bucket = i - j
                if abs(bucket) > middle:
                    far = int(np.ceil((np.log(f(abs(bucket))) - np.log(f(middle))) * scale)) + middle
                    bucket = far if bucket > 0 else -far
                at = min(max(bucket + span, 0), 2 * span - 1)
                expected[:, i, j] = (a[:, i, j] + b[:, i, at] + c[:, j, at]) * f(0.1)
            for symbolic in (None, True):
                self.compare(self.results('DisentangledAttention_TRT', [a, b, c], 1, types=symbolic, span=span, factor=0.1), [expected])

    def test_grid_anchors(self):
        ratios, variance = [1.0, 2.0, 0.5, 3.0, 0.33], [0.1, 0.1, 0.2, 0.2]
        for op, shapes in (('GridAnchor_TRT', [(5, 5), (3, 3), (1, 1)]), ('GridAnchorRect_TRT', [(5, 4), (2, 3), (1, 1)])):
            scales = [0.2 + 0.75 * i / 2 for i in range(3)] + [1.0]
            expected = []
            for m, (h, w) in enumerate(shapes):
                sizes = ([(0.1, ratios[0]), (scales[0], ratios[1]), (scales[0], ratios[2])] if m == 0 else
                         [(scales[m], r) for r in ratios] + [((scales[m] * scales[m + 1]) ** 0.5, 1.0)])
                rows = [[(x + 0.5) / w - s * r**0.5 / 2, (y + 0.5) / h - s / r**0.5 / 2, (x + 0.5) / w + s * r**0.5 / 2,
                         (y + 0.5) / h + s / r**0.5 / 2] for y in range(h) for x in range(w) for s, r in sizes]
                corner = np.array(rows, np.float32).reshape(1, -1, 1)
                expected.append(np.concatenate([corner, np.tile(np.array(variance, np.float32), len(rows)).reshape(1, -1, 1)]))
            flat = [e for shape in shapes for e in (shape if 'Rect' in op else shape[:1])]
            self.compare(self.results(op, [], 3, minSize=0.2, maxSize=0.95, aspectRatios=ratios, variance=variance, featureMapShapes=flat,
                                      numLayers=3), expected)

    def test_multilevel_crop_and_resize(self):
        maps = [floats(2, 3, 64 >> i, 48 >> i) for i in range(5)]
        rois = np.array([[[10, 20, 100, 90], [0, 0, 256, 192], [5, 5, 5, 40], [200, 100, 150, 120]],
                         [[30, 10, 250, 190], [1, 2, 240, 180], [100, 0, 300, 50], [-1, 0, 20, 20]]], np.float32)
        rois = np.concatenate([rois, [[[0, 0, 30, 190]], [[3, 7, 11, 9]]]], 1).astype(np.float32)
        self.crop(maps, rois, (3, 256, 192))
        maps = [floats(1, 2, 256 >> i, 256 >> i) for i in range(5)]
        self.crop(maps, np.array([[[0, 0, s, s] for s in (100, 113, 230, 450, 900, 1000)]], np.float32), (3, 1024, 1024))

    def crop(self, maps, rois, image_size, pooled=4):
        images, count, _ = rois.shape
        expected = np.zeros((images, count, maps[0].shape[1], pooled, pooled), np.float32)
        for n, r in np.ndindex(images, count):
            y1, x1, y2, x2 = rois[n, r]
            if not (0 <= y1 < y2 <= image_size[1] and 0 <= x1 < x2 <= image_size[2]):
                continue
            level = sum((y2 - y1) * (x2 - x1) > 112 * 112 * 4**i for i in range(4))
            x, scale = maps[level][n], 4 * 2**level
            for i, j in np.ndindex(pooled, pooled):
                y = min(max(y1 / scale + (y2 - y1) / scale / pooled * (i + 0.5), 0), x.shape[1] - 1)
                xx = min(max(x1 / scale + (x2 - x1) / scale / pooled * (j + 0.5), 0), x.shape[2] - 1)
                p, q = int(y), int(xx)
                s, t = min(p + 1, x.shape[1] - 1), min(q + 1, x.shape[2] - 1)
                dy, dx = y - p, xx - q
                expected[n, r, :, i, j] = ((x[:, p, q] * (1 - dx) + x[:, p, t] * dx) * (1 - dy)
                                           + (x[:, s, q] * (1 - dx) + x[:, s, t] * dx) * dy)
        self.compare(self.results('MultilevelCropAndResize_TRT', [rois, *maps], 1, pooled_size=pooled, image_size=list(image_size)),
                     [expected], atol=1e-4)

    def test_what_is_refused(self):
        boxes, scores = boxes_of(1, 4), RANDOM.random((1, 4, 2)).astype(np.float32)
        for op, operands, attributes, why in (
                ('EfficientNMS_TRT', [boxes, scores], {'max_output_boxes': 0}, 'max_output_boxes is 0, a positive number'),
                ('EfficientNMS_TRT', [boxes, scores], {'box_coding': 2}, 'box_coding is 2'),
                ('EfficientNMS_TRT', [boxes, scores], {'max_boxes': 2}, "the plug-in has no attribute 'max_boxes'"),
                ('EfficientNMS_TRT', [boxes[0], scores], {}, 'the boxes have rank 2'),
                ('BatchedNMS_TRT', [boxes, scores], {'topK': 4}, "attribute 'backgroundLabelId' is missing"),
                ('GridAnchor_TRT', [], {}, "attribute 'aspectRatios' is missing"),
                ('NMSUnknown_TRT', [boxes], {}, "NMSUnknown_TRT")):
            with self.subTest(op), self.assertRaisesRegex(Exception, why):
                self.results(op, operands, 1, **attributes)


if __name__ == '__main__':
    unittest.main()
