// EfficientNMS_TRT: the best boxes of each image, with scores and classes.
#include "onnx_ops/tensorrt/select_boxes_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  std::vector<Value*> results = efficient_nms_of_anchors(call);
  results.pop_back();
  return results;
}

}  // namespace

OnnxOp onnx_tensorrt_efficient_nms_trt() { return {.name = "EfficientNMS_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
