// GridSample of ONNX Runtime, which older exporters of torch write: as ONNX has it from opset 16 on.
#include "onnx_ops/ai_onnx/grid_sample_common.h"

namespace tenfold::onnx_ops {

OnnxOp onnx_microsoft_grid_sample() { return {.name = "GridSample", .forms = {{1, grid_sample_of_images}}}; }

}  // namespace tenfold::onnx_ops
