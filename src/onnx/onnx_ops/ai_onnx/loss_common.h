// What the two losses of labels share.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The negative log-likelihood of `labels` [n, ...] under `log_probabilities` [n, classes, ...], weighted by class where `weights` [classes]
// are there, reduced as attribute `reduction` says. Labels equal to `ignore_index` count nothing.
Value* negative_log_likelihood(OnnxImport& call, Value* log_probabilities, Value* labels, Value* weights);

}  // namespace tenfold::onnx_ops
