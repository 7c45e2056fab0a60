// EfficientNMSX_TRT: EfficientNMS_TRT that also gives the numbers of the boxes, as exporters of segmentation write it.
#include "onnx_ops/tensorrt/select_boxes_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return efficient_nms_of_anchors(call); }

}  // namespace

OnnxOp onnx_tensorrt_efficient_nmsx_trt() { return {.name = "EfficientNMSX_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
