// The anchors of an SSD.
#pragma once

#include "onnx_ops/tensorrt/plugin_common.h"

namespace tenfold::onnx_ops {

// For each feature map the corners of its anchors, and behind them its variances, [2, 4 * anchors, 1]. `rectangles`: the attribute
// featureMapShapes has two extents for each.
std::vector<Value*> grid_anchors(OnnxImport& call, bool rectangles);

}  // namespace tenfold::onnx_ops
