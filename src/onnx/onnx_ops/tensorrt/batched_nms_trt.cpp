// BatchedNMS_TRT: the same as BatchedNMSDynamic_TRT, from networks without a batch in their shapes.
#include "onnx_ops/tensorrt/select_boxes_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return batched_nms(call); }

}  // namespace

OnnxOp onnx_tensorrt_batched_nms_trt() { return {.name = "BatchedNMS_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
