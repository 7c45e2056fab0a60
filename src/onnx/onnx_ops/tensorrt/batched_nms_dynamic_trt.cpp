// BatchedNMSDynamic_TRT: the best boxes of each class, of which the best of each image are kept.
#include "onnx_ops/tensorrt/select_boxes_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return batched_nms(call); }

}  // namespace

OnnxOp onnx_tensorrt_batched_nms_dynamic_trt() { return {.name = "BatchedNMSDynamic_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
