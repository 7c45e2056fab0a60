// Attributes of TensorRT's plug-ins, as exporters write them: numbers also as lists of one, and with the plug-in's version and namespace.
#pragma once

#include <initializer_list>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// Refuses an attribute that is none of these.
void expect_fields(const OnnxImport& call, std::initializer_list<std::string_view> fields);
std::int64_t integer_field(const OnnxImport& call, std::string_view name, std::int64_t otherwise);
float number_field(const OnnxImport& call, std::string_view name, float otherwise);
Floats numbers_field(const OnnxImport& call, std::string_view name);   // must be there
Ints integers_field(const OnnxImport& call, std::string_view name);    // must be there

}  // namespace tenfold::onnx_ops
