// What the plug-ins of TensorRT that select boxes share.
#pragma once

#include "onnx_ops/tensorrt/plugin_common.h"

namespace tenfold::onnx_ops {

// Operand 0 as [images, boxes, 1 or classes, 4]; operand 1 as [images, boxes, classes].
Value* boxes_of_classes(OnnxImport& call);
Value* scores_of_classes(OnnxImport& call);
Value* corners_of_centers(OnnxImport& call, Value* boxes);   // center and size as two corners
Value* clipped_to_one(OnnxImport& call, Value* boxes);
// Numbers of detections, boxes, scores, classes, numbers of boxes, by EfficientNMS' rules: what is as large as a threshold counts.
std::vector<Value*> efficient_nms(OnnxImport& call, Value* boxes, Value* scores, Attributes more);
// EfficientNMS_TRT and EfficientNMSX_TRT: two operands, or three with anchors that boxes are relative to.
std::vector<Value*> efficient_nms_of_anchors(OnnxImport& call);
// EfficientNMS_Explicit_TF_TRT and EfficientNMS_Implicit_TF_TRT: CombinedNonMaxSuppression of TensorFlow.
std::vector<Value*> efficient_nms_of_tensorflow(OnnxImport& call);
// BatchedNMS_TRT and BatchedNMSDynamic_TRT.
std::vector<Value*> batched_nms(OnnxImport& call);

}  // namespace tenfold::onnx_ops
