"""torchvision's operators of boxes."""
from __future__ import annotations

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import aten

MOST = (1 << 31) - 1       # boxes


@aten('torchvision.roi_align.default')
def roi_align(call: Call, x: Value, rois: Value, scale: float, height: int, width: int, samples: int, aligned: bool) -> Value:
    parts = call.Split(rois, call.ints([1, 4]), axis=1, outputs=2)
    batches = call.cast(call.Squeeze(parts[0], call.ints([1])), 'i64')
    return call.RoiAlign(x, parts[1], batches, mode='avg', output_height=height, output_width=width, sampling_ratio=max(samples, 0),
                         spatial_scale=scale, coordinate_transformation_mode='half_pixel' if aligned else 'output_half_pixel')


@aten('torchvision.nms.default')
def nms(call: Call, boxes: Value, scores: Value, threshold: float) -> Value:
    """Corners of one order: ONNX's operator orders them, torchvision's takes them as they are."""
    found = call.NonMaxSuppression(call.Unsqueeze(call.cast(boxes, 'f32'), call.ints([0])),
                                   call.Unsqueeze(call.cast(scores, 'f32'), call.ints([0, 1])), call.ints([MOST]),
                                   call.constant([threshold], 'f32'), call.constant([-float('inf')], 'f32'))
    return call.Squeeze(call.Slice(found, call.ints([2]), call.ints([3]), call.ints([1])), call.ints([1]))
