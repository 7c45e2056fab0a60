// Formats of trtexec against the bindings of a model or plan.
#include "engines/io_formats.h"

#include <algorithm>
#include <optional>

#include "flags/specs.h"

namespace tenfold::cli {
namespace {

const std::map<std::string, DType>& types() {
  static const std::map<std::string, DType> names = {
      {"fp32", DType::f32}, {"fp16", DType::f16}, {"bf16", DType::bf16},    {"int32", DType::i32}, {"int64", DType::i64},
      {"int8", DType::i8},  {"uint8", DType::u8}, {"bool", DType::boolean}, {"int4", DType::i4},   {"fp8", DType::f8e4m3fn}};
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// Any of several, joined by +, is allowed: the first that Tenfold has is taken.
BindingOrder parse_order(const std::string& flag, const std::string& spec, const std::string& text) {
  for (const std::string& word : split(text, '+')) {
    if (word == "chw") return BindingOrder::as_model;
    if (word == "hwc") return BindingOrder::hwc;
    if (word == "dhwc") return BindingOrder::dhwc;
  }
  throw UsageError("--" + flag + ": '" + spec +
                   "': Tenfold has the orders chw (row-major, as the model has it), hwc and dhwc (channels last); those that pad channels "
                   "(chw4, hwc8 ...) and DLA's are not supported");
}

using Formats = std::map<std::string, BindingFormat>;

// One format for each, or one for all: that must not round the integers among them.
Formats by_name(const char* flag, const std::vector<BindingFormat>& formats, const std::vector<BindingInfo>& all, bool inputs) {
  Formats named;
  if (formats.empty()) return named;
  std::vector<std::string> names;
  for (const BindingInfo& b : all)
    if (b.is_input == inputs) names.push_back(b.name);
  if (formats.size() != 1 && formats.size() != names.size())
    throw UsageError(std::string("--") + flag + " has " + std::to_string(formats.size()) + " entries for " + std::to_string(names.size()) +
                     " tensors: " + joined(names));
  std::size_t i = 0;
  for (const BindingInfo& b : all) {
    if (b.is_input != inputs) continue;
    const bool for_all = formats.size() == 1 && names.size() > 1;
    const BindingFormat& format = formats[formats.size() == 1 ? 0 : i++];
    if (for_all && !is_float(b.dtype) && is_float(*format.dtype))
      throw UsageError(std::string("--") + flag + ": '" + b.name + "' is " + std::string(name(b.dtype)) + " in the model, which " +
                       std::string(name(*format.dtype)) + " for all would round: give each of " + joined(names) + " its format");
    named[b.name] = format;
  }
  return named;
}

void expect_types(const char* flag, const std::vector<BindingFormat>& formats, const std::vector<BindingInfo>& all, bool inputs) {
  const Formats named = by_name(flag, formats, all, inputs);
  for (const BindingInfo& b : all)
    if (const auto at = named.find(b.name); b.is_input == inputs && at != named.end() && *at->second.dtype != b.dtype)
      throw UsageError(std::string("--") + flag + ": '" + b.name + "' is " + std::string(name(b.dtype)) + " in the plan, not " +
                       std::string(name(*at->second.dtype)) + ": types and orders are chosen when it is built");
}

void reorder(std::map<std::string, Shape>& shapes, const Formats& formats) {
  for (auto& [name, shape] : shapes) {
    const auto at = formats.find(name);
    if (at == formats.end()) continue;
    const std::size_t moved = at->second.order == BindingOrder::hwc ? 3 : at->second.order == BindingOrder::dhwc ? 4 : 0;
    if (moved > 0 && shape.size() >= moved) {
      const auto channels = shape.end() - static_cast<std::ptrdiff_t>(moved);
      std::rotate(channels, channels + 1, shape.end());
    }
  }
}

}  // namespace

std::vector<BindingFormat> parse_io_formats(const std::string& flag, const std::string& text) {
  std::vector<BindingFormat> formats;
  for (const std::string& spec : split(text, ',')) {
    const std::size_t colon = spec.find(':');
    if (colon == std::string::npos) throw UsageError("--" + flag + ": '" + spec + "' is no format; expected type:order, such as fp16:hwc");
    const auto type = types().find(spec.substr(0, colon));
    if (type == types().end()) {
      std::vector<std::string> names;
      for (const auto& [known, dtype] : types()) names.push_back(known);
      throw UsageError("--" + flag + ": there is no type '" + spec.substr(0, colon) + "' in '" + spec + "'; there are " + joined(names));
    }
    formats.push_back({type->second, parse_order(flag, spec, spec.substr(colon + 1))});
  }
  return formats;
}

void resolve_io_formats(ExecOptions& o) {
  if (o.onnx.empty() || (o.input_formats.empty() && o.output_formats.empty())) return;
  BuildConfig config = o.build;
  config.profiles = profile_ranges(o, {});
  const std::vector<BindingInfo> bindings = model_bindings(o.onnx, config);
  o.build.input_formats = by_name("inputIOFormats", o.input_formats, bindings, true);
  o.build.output_formats = by_name("outputIOFormats", o.output_formats, bindings, false);
  reorder(o.shapes, o.build.input_formats);
  for (auto& [number, ranges] : o.profiles)
    for (auto* shapes : {&ranges.min, &ranges.opt, &ranges.max}) reorder(*shapes, o.build.input_formats);
}

void check_io_formats(const ExecOptions& o, const std::vector<BindingInfo>& bindings) {
  expect_types("inputIOFormats", o.input_formats, bindings, true);
  expect_types("outputIOFormats", o.output_formats, bindings, false);
}

}  // namespace tenfold::cli
