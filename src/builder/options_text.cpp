// Options of a build in text.
#include "builder/options_text.h"

#include <algorithm>
#include <cstdio>

#include "base/check.h"
#include "base/files/hash.h"
#include "base/threads/cpu_count.h"
#include "quant/calibrator.h"

namespace tenfold::builder {
namespace {

std::string hash_text(std::span<const std::byte> bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash64(bytes)),
                static_cast<unsigned long long>(hash64(bytes, 1)));
  return text;
}

// Between each and the next stands `mark`.
std::string choices(const BuildConfig& c, const char* mark) {
  std::string out =
      cat("fp16=", c.fp16, " bf16=", c.bf16, " int8=", c.int8, " fp8=", c.fp8, " tf32=", c.tf32, " tf32_convolutions=", c.tf32_convolutions,
          " tf32_matmul=", c.tf32_matmul, " winograd=", c.winograd, " strassen=", c.strassen, " fast_exp=", c.fast_exp,
          " check_overflow=", c.check_overflow, " pack=", static_cast<int>(c.pack_tokens), " level=", c.optimization_level,
          " max_tactics=", c.max_tactics, " sources=", c.tactic_sources, " workspace=", c.workspace_bytes, " features=", c.cpu_features,
          " portable=", c.keep_portable_graph, " refittable=", c.refittable, " random=", c.random_choices,
          " threads=", c.threads > 0 ? c.threads : default_threads());
  if (!c.newest_row.empty()) out += " newest_row=" + c.newest_row;
  if (c.auto_precision) out += " auto_precision=1";
  if (c.calibration && c.calibration->types != Calibration().types) {
    out += " calibrated_to=";
    for (const DType type : c.calibration->types) out += cat(type == c.calibration->types.front() ? "" : "+", name(type));
  }
  const LayerTypes& layers = c.layer_types;
  if (layers.constraints != LayerConstraints::none) {
    out += cat(mark, "layer types are ", layers.constraints == LayerConstraints::obey ? "obeyed" : "preferred");
    for (const LayerPrecision& one : layers.precisions) out += cat(mark, "layer ", one.layers, " in ", name(one.type));
    for (const LayerOutputTypes& one : layers.output_types)
      for (const DType type : one.types) out += cat(mark, "layer ", one.layers, " gives ", name(type));
  }
  for (const std::string& pass : c.disabled_passes) out += cat(mark, "without ", pass);
  for (const auto& [problem, tactic] : c.forced_tactics) out += cat(mark, "forced ", problem, " -> ", tactic);
  return out;
}

}  // namespace

std::string hash_of(std::span<const std::byte> bytes) { return cat(bytes.size(), ":", hash_text(bytes)); }

std::string options_in_words(const BuildConfig& config) { return choices(config, "; "); }

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
    if (dynamic) out += "; rows of products quantized as they run";
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
