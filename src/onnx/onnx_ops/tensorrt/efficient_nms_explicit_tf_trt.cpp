// EfficientNMS_Explicit_TF_TRT: CombinedNonMaxSuppression of TensorFlow.
#include "onnx_ops/tensorrt/select_boxes_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return efficient_nms_of_tensorflow(call); }

}  // namespace

OnnxOp onnx_tensorrt_efficient_nms_explicit_tf_trt() { return {.name = "EfficientNMS_Explicit_TF_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
