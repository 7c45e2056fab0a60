// --inputIOFormats and --outputIOFormats against what the model has: they may say its types, not change them.
#include "io_formats.h"

#include <algorithm>

namespace tenfold::cli {
namespace {

const std::map<std::string, std::string>& trtexec_names() {
  static const std::map<std::string, std::string> names = {{"fp32", "f32"},  {"fp16", "f16"},   {"bf16", "bf16"}, {"int32", "i32"},
                                                           {"int64", "i64"}, {"int8", "i8"},    {"uint8", "u8"},  {"bool", "bool"},
                                                           {"int4", "i4"},   {"fp8", "f8e4m3"}};
  return names;
}

void check(const char* flag, const std::vector<std::string>& types, const std::vector<BindingInfo>& all, bool inputs) {
  if (types.empty()) return;
  const auto count = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& b) { return b.is_input == inputs; }));
  if (types.size() != 1 && types.size() != count)
    throw UsageError(std::string("--") + flag + " has " + std::to_string(types.size()) + " entries for " + std::to_string(count) +
                     " tensors");
  std::size_t i = 0;
  for (const BindingInfo& b : all) {
    if (b.is_input != inputs) continue;
    const std::string& asked = types[types.size() == 1 ? 0 : i++];
    const auto known = trtexec_names().find(asked);
    if (known == trtexec_names().end()) throw UsageError(std::string("--") + flag + ": there is no type '" + asked + "'");
    const std::string own(name(b.dtype));
    if (!own.starts_with(known->second))
      throw UsageError(std::string("--") + flag + ": '" + b.name + "' is " + own + " in the model, not " + asked +
                       "; inputs and outputs keep the model's types (put a Cast into the model to change one)");
  }
}

}  // namespace

void check_io_formats(const ExecOptions& o, const std::vector<BindingInfo>& bindings) {
  check("inputIOFormats", o.input_types, bindings, true);
  check("outputIOFormats", o.output_types, bindings, false);
}

}  // namespace tenfold::cli
