// Types of graph inputs: named dimensions become symbols, those of no name get one of their own, fixed shapes replace both.
#include "onnx_import/value_types.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "base/find_or_make.h"
#include "onnx_import/tensor_proto.h"
#include "ops/onnx_dtype.h"
#include "tenfold/internal/shape_values.h"

namespace tenfold::onnx_import {
namespace {

// "past_sequence + 1" -> "past_sequence_1": only what Dim's text form can hold.
std::string identifier(const std::string& name) {
  std::string out;
  for (char c : name) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (word) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(0, "d");
  return out.substr(0, 64);
}

// Whether two dims of this name need not be equal: it says that nothing is known, as exporters write it ("?", "-1", "*").
bool says_nothing(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) || c >= 0x80; };   // of any script, in UTF-8
  return name == "-1" || std::none_of(name.begin(), name.end(), is_letter);
}

// The elements of a shape tensor, which the run reads; they say nothing of its type.
bool are_values(const onnx::TypeProto::Tensor& type, const Shape& given) {
  if (!type.shape) return false;
  Shape declared;
  for (const auto& dim : type.shape->dim) declared.push_back(dim.dim_value.value_or(-1));
  return gives_values(ops::dtype_from_onnx(type.elem_type), declared, given);
}

ir::Dim extent(std::int64_t value) {
  require(value >= 0 && value <= ir::kUnbounded, ErrorKind::invalid_model, "has the extent ", value, " in its shape");
  return ir::Dim(value);
}

}  // namespace

void ValueTypes::fix_names(const onnx::GraphProto& graph) {
  for (const auto& [name, shape] : options_.input_shapes) {
    const onnx::ValueInfoProto* input = nullptr;
    std::string known;
    for (const auto& candidate : graph.input) {
      if (candidate.name == name) input = &candidate;
      known += (known.empty() ? "" : ", ") + candidate.name;
    }
    require(input != nullptr, ErrorKind::invalid_argument, "a shape or an array is given for '", name,
            "', but the model's inputs are: ", known);
    const auto& type = input->type.tensor_type;
    if (!type || !type->shape || are_values(*type, shape)) continue;
    const auto& declared = type->shape->dim;
    require(declared.size() == shape.size(), ErrorKind::invalid_argument, "the shape given for '", name, "' has ",
            shape.size(), " dimensions, the model declares ", declared.size());
    for (std::size_t d = 0; d < declared.size(); ++d) {
      const std::int64_t value = shape[d];
      if (value < 0 || says_nothing(declared[d].dim_param)) continue;
      const auto [entry, fresh] = fixed_.try_emplace(declared[d].dim_param, value);
      require(fresh || entry->second == value, ErrorKind::invalid_argument, "the given shapes fix the dimension '", entry->first, "' to ",
              entry->second, " and to ", value);
    }
  }
}

ir::Dim ValueTypes::named(const std::string& name) {
  if (const auto fixed = fixed_.find(name); fixed != fixed_.end()) return extent(fixed->second);
  return find_or_make(symbols_, name, [&] {
    const std::string stem = identifier(name);
    std::string symbol = stem;   // two names may look alike once they are cleaned
    for (int i = 2; !taken_.insert(symbol).second; ++i) symbol = cat(stem, "_", i);
    return graph_.new_symbol(symbol, 0, ir::kUnbounded, ir::Origin::input_dim);
  });
}

ir::TensorType ValueTypes::tensor(const onnx::TypeProto::Tensor& type, const std::string& stem, const Shape* fixed) {
  ir::TensorType result{ops::dtype_from_onnx(type.elem_type), {}};
  if (!type.shape) {
    require(fixed != nullptr, ErrorKind::unsupported, "has no declared number of dimensions; give its shape (--shapes=", stem, ":...)");
    for (std::int64_t value : *fixed)
      result.dims.push_back(value >= 0 ? extent(value) : named(cat(stem, "_d", result.dims.size())));
    return result;
  }
  require(type.shape->dim.size() <= kMaxRank, ErrorKind::invalid_model, "has ", type.shape->dim.size(), " dimensions, at most ", kMaxRank,
          " are allowed");
  for (const auto& dim : type.shape->dim) {
    const std::size_t d = result.dims.size();
    const std::int64_t requested = fixed ? (*fixed)[d] : -1;
    if (dim.dim_value) {
      require(requested < 0 || requested == *dim.dim_value, ErrorKind::invalid_argument, "dimension ", d, " is ", *dim.dim_value,
              " in the model, but ", requested, " in the shape given");
      result.dims.push_back(extent(*dim.dim_value));
    } else if (requested >= 0) {
      result.dims.push_back(extent(requested));
    } else {
      result.dims.push_back(named(says_nothing(dim.dim_param) ? cat(stem, "_d", d) : dim.dim_param));
    }
  }
  return result;
}

ir::ValueType ValueTypes::input(const onnx::ValueInfoProto& info) {
  try {
    const auto fixed = options_.input_shapes.find(info.name);
    if (fixed == options_.input_shapes.end()) return declared(info.type, info.name);
    require(info.type.tensor_type.has_value(), ErrorKind::invalid_argument, "a shape is given, but it is no tensor");
    if (are_values(*info.type.tensor_type, fixed->second)) return declared(info.type, info.name);
    return {.tensor = tensor(*info.type.tensor_type, info.name, &fixed->second)};
  } catch (Error& error) {
    throw error.within(cat("input '", info.name, "'"));
  }
}

ir::ValueType ValueTypes::declared(const onnx::TypeProto& type, const std::string& stem) {
  if (type.tensor_type) return {.tensor = tensor(*type.tensor_type, stem, nullptr)};
  return held(type, stem);
}

ir::ValueType ValueTypes::held(const onnx::TypeProto& type, const std::string& stem) {
  if (type.sequence_type) return ir::sequence_of(held(*type.sequence_type, stem));
  if (type.optional_type) return ir::optional_of(held(*type.optional_type, stem));
  if (type.map_type) return ir::map_of(ops::dtype_from_onnx(type.key_type), held(*type.map_type, stem));
  require(type.tensor_type.has_value(), ErrorKind::unsupported,
          type.sparse_tensor_type ? "is a sparse tensor" : type.opaque_type ? "is opaque" : "has no type");
  const auto& shape = type.tensor_type->shape;
  ir::ValueType result{.tensor = {ops::dtype_from_onnx(type.tensor_type->elem_type), {}}, .ranked = shape.has_value()};
  if (!shape) return result;
  require(shape->dim.size() <= kMaxRank, ErrorKind::invalid_model, "has ", shape->dim.size(), " dimensions, at most ", kMaxRank,
          " are allowed");
  for (const auto& dim : shape->dim)   // an extent that is not declared may differ from one element to the next
    result.tensor.dims.push_back(dim.dim_value ? extent(*dim.dim_value)
                                               : graph_.new_symbol(identifier(cat(stem, "_any", result.tensor.dims.size())), 0,
                                                                   ir::kUnbounded, ir::Origin::host_value));
  return result;
}

}  // namespace tenfold::onnx_import
