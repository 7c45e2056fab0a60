// Options of a build in text.
#include "builder/options_text.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"
#include "base/files/hash.h"
#include "base/threads/cpu_count.h"
#include "builder/fields.h"
#include "quant/calibrator.h"

namespace tenfold::builder {
namespace {

std::string hash_text(std::span<const std::byte> bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash64(bytes)),
                static_cast<unsigned long long>(hash64(bytes, 1)));
  return text;
}

// Lists stand behind kMark, each entry for itself, and what is empty is left out.
struct Summary {
  static constexpr const char* kMark = "; ";
  std::string text = {};

  template <class Value>
  requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
  void add(const char* name, const Value& value) {
    text += cat(text.empty() ? "" : " ", name, "=");
    if constexpr (std::is_enum_v<Value>) text += cat(static_cast<int>(value));
    else text += cat(value);
  }
  void add(const char* name, const std::string& value) {
    if (!value.empty()) text += cat(" ", name, "=", value);
  }
  void add(const char* name, const std::vector<std::string>& list) {
    for (const std::string& value : list) text += cat(kMark, name, " ", value);
  }
  void add(const char* name, const NamedTexts& pairs) {
    for (const auto& [key, value] : pairs) text += cat(kMark, name, " ", key, " -> ", value);
  }
  void add(const char*, const std::optional<Calibration>& value) {
    if (!value || value->types == Calibration().types) return;
    text += " calibrated_to=";
    for (const DType type : value->types) text += cat(type == value->types.front() ? "" : "+", name(type));
  }
  void add(const char*, const LayerTypes& layers) {
    if (layers.constraints == LayerConstraints::none) return;
    text += cat(kMark, "layer types are ", layers.constraints == LayerConstraints::obey ? "obeyed" : "preferred");
    for (const LayerPrecision& one : layers.precisions) text += cat(kMark, "layer ", one.layers, " in ", name(one.type));
    for (const LayerOutputTypes& one : layers.output_types)
      for (const DType type : one.types) text += cat(kMark, "layer ", one.layers, " gives ", name(type));
  }
};

}  // namespace

std::string hash_of(std::span<const std::byte> bytes) { return cat(bytes.size(), ":", hash_text(bytes)); }

std::string options_in_words(const BuildConfig& config) {
  Summary summary;
  each_field_in<&FieldForms::in_summary>([&](auto field) {
    const Place& place = field.kForms.in_summary;
    if (left_out(field, place, config)) return;
    if constexpr (std::is_same_v<decltype(field), fields::threads>)
      summary.add(field.name_in(place), config.threads > 0 ? config.threads : default_threads());
    else
      summary.add(field.name_in(place), field.of(config));
  });
  return summary.text;
}

std::string precision_in_words(const std::string& options) {
  std::size_t first = options.size();
  for (const char* begin : {"; calibrated by ", "; within the error budget: ", "; not within the error budget: "})
    first = std::min(first, options.find(begin));
  return options.substr(std::min(first, options.size()));
}

std::string precision_in_words(const BuildReport& report) {
  std::string out;
  const auto& c = report.calibration;
  const bool dynamic = c && c->method == quant::kDynamic;
  if (dynamic || (c && c->values > 0)) {
    if (dynamic) out += "; rows quantized at run time";
    else if (c->samples > 0) out += cat("; calibrated by ", c->method, " on ", c->samples, " samples");
    else out += "; calibrated by a cache";
    std::string corrections;
    for (const CorrectionReport& r : c->corrections)
      if (r.kept) corrections += cat(corrections.empty() ? " with " : ", ", r.name);
    out += corrections;
    for (const OutputError& e : c->errors)
      out += cat("; relative l2 error of '", e.output, "' on ", c->compared, " other samples ", e.relative_l2);
  }
  if (report.budget)
    for (const BudgetPlan& p : report.budget->plans)
      if (p.taken)
        out += cat("; ", p.within ? "within" : "not within", " the error budget: ", p.error, " on ", report.budget->samples,
                   " samples, ", p.low, " to ", p.high, " with 95 % on others like them (", p.name, ")");
  return out;
}

}  // namespace tenfold::builder
