// Whether a value cannot be negative, whatever the data: by the operators that made it.
#pragma once

#include <functional>
#include <optional>

#include "ir/graph.h"

namespace tenfold::quant {

// `number`: of a constant of one element, where its value may be looked at; nothing of all others.
using NumberOf = std::function<std::optional<double>(const ir::Value* value)>;
bool never_negative(const ir::Value* value, const NumberOf& number);

}  // namespace tenfold::quant
