// GridAnchorRect_TRT: the anchors of rectangular feature maps.
#include "onnx_ops/tensorrt/grid_anchor_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return grid_anchors(call, true); }

}  // namespace

OnnxOp onnx_tensorrt_grid_anchor_rect_trt() { return {.name = "GridAnchorRect_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
