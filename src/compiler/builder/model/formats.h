// Types and orders of inputs and outputs as callers have them: casts and transposes at the graph's border, in front of all passes, so that
// they fuse with their neighbors. And values of inputs that need not be bound.
#pragma once

#include "ir/op_def.h"
#include "tenfold/build.h"

namespace tenfold::builder {

// The model's shape where the caller's is `shape`. One of too few dims is left alone: apply_formats() says what is wrong with it.
Shape in_models_order(Shape shape, BindingOrder order);

// Both throw invalid_argument naming the input or output.
void apply_formats(ir::Graph& graph, const BuildConfig& config);
void check_defaults(const ir::Graph& graph, const BuildConfig& config);

// A value of the model's as its caller has it.
Tensor as_caller_has(const Tensor& value, const std::string& input, const BindingFormat& format);

}  // namespace tenfold::builder
