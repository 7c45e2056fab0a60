// RoiAlign: before opset 16 regions were not moved by half a pixel.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kBefore16 = R"((x, rois, images) mode="avg" output_height=1 output_width=1 sampling_ratio=0 spatial_scale=1.0
  y = RoiAlign(x, rois, images) coordinate_transformation_mode="output_half_pixel" mode=@mode output_height=@output_height
      output_width=@output_width sampling_ratio=@sampling_ratio spatial_scale=@spatial_scale
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_roi_align() { return {.name = "RoiAlign", .forms = {{16}, {10, kBefore16}}}; }

}  // namespace tenfold::onnx_ops
