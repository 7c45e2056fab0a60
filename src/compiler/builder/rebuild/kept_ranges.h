// What a calibration found, as the lines of a kept model: tensors by a kind and the name of a value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "quant/place_qdq.h"

namespace tenfold::builder {

void each_kept(const quant::Ranges& ranges,
               const std::function<void(std::string_view kind, const std::string& value, const Tensor&)>& visit);
// False: there is no such kind. What is wrong with the tensor stands in `problem`.
bool take_kept(std::string_view kind, const std::string& value, const Tensor& tensor, quant::Ranges& ranges, std::string& problem);

}  // namespace tenfold::builder
