// The types of values that a Loop carries from one iteration to the next.
#pragma once

#include <functional>

#include "ir/op_def.h"

namespace tenfold::ops {

// What a Loop's body gets besides.
inline const ir::ValueType kIteration{.tensor = {DType::i64, {}}};
inline const ir::ValueType kCondition{.tensor = {DType::boolean, {}}};

// Types that hold in every iteration: those that enter the loop `node`, widened until one more iteration, which `once` infers, changes
// nothing: a dim that changes becomes a symbol that stands for any extent.
using OneIteration = std::function<std::vector<ir::ValueType>(const std::vector<ir::ValueType>&)>;
std::vector<ir::ValueType> types_that_hold(ir::Graph& graph, const std::string& node, std::vector<ir::ValueType> entering,
                                           const OneIteration& once);
// Types of `count` values from number `first` on.
std::vector<ir::ValueType> types_of(const std::vector<ir::Value*>& values, std::size_t first, std::size_t count);

}  // namespace tenfold::ops
