// ROIAlign_TRT: ONNX's RoiAlign, whose words are numbers.
#include "onnx_ops/tensorrt/plugin_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  expect_fields(call, {"coordinate_transformation_mode", "mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"});
  const std::int64_t shift = integer_field(call, "coordinate_transformation_mode", 1), mode = integer_field(call, "mode", 1);
  validate((shift == 0 || shift == 1) && (mode == 0 || mode == 1), "coordinate_transformation_mode is ", shift, " and mode ", mode,
           ", 0 or 1 expected");
  return call.add("RoiAlign", {call.given(0), call.given(1), call.given(2)},
                  {{"coordinate_transformation_mode", shift ? "half_pixel" : "output_half_pixel"},
                   {"mode", mode ? "avg" : "max"},
                   {"output_height", integer_field(call, "output_height", 1)},
                   {"output_width", integer_field(call, "output_width", 1)},
                   {"sampling_ratio", integer_field(call, "sampling_ratio", 0)},
                   {"spatial_scale", number_field(call, "spatial_scale", 1.0f)}});
}

}  // namespace

OnnxOp onnx_tensorrt_roi_align_trt() { return {.name = "ROIAlign_TRT", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
