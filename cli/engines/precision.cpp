#include "engines/precision.h"

#include <map>

#include "flags/specs.h"
#include "tenfold/device.h"

namespace tenfold::cli {
namespace {

// trtexec's names, then those of the rest of Tenfold.
DType type_of(const char* flag, const std::string& text) {
  static const std::map<std::string, DType> types{
      {"fp32", DType::f32},  {"fp16", DType::f16}, {"bf16", DType::bf16}, {"int32", DType::i32},    {"int64", DType::i64},
      {"int8", DType::i8},   {"int4", DType::i4},  {"fp8", DType::f8e4m3fn}, {"fp4", DType::f4e2m1}};
  const auto at = types.find(lower(text));
  if (at == types.end())
    throw UsageError("--" + std::string(flag) + ": there is no type '" + text +
                     "'; fp32, fp16, bf16, fp8, fp4, int8, int4, int32 and int64 are known");
  return at->second;
}

// LAYER:TYPE of a list. Names of layers may hold colons.
struct Spec { std::string layers, type; };
std::vector<Spec> layer_specs(const char* flag, const std::string& text) {
  std::vector<Spec> specs;
  for (const std::string& one : split(text, ',')) {
    const std::size_t colon = one.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == one.size())
      throw UsageError("--" + std::string(flag) + ": '" + one + "' is not LAYER:TYPE, such as conv1:fp32 or encoder*:fp16");
    specs.push_back({one.substr(0, colon), one.substr(colon + 1)});
  }
  return specs;
}

LayerConstraints constraints_of(const std::string& text) {
  static const std::map<std::string, LayerConstraints> all{
      {"none", LayerConstraints::none}, {"prefer", LayerConstraints::prefer}, {"obey", LayerConstraints::obey}};
  const auto at = all.find(lower(text));
  if (at == all.end()) throw UsageError("--precisionConstraints is none, prefer or obey, not '" + text + "'");
  return at->second;
}

void add_layer_flags(Flags& f, LayerTypes& types) {
  f.add({"precisionConstraints", "HOW",
         "+none (ignore --layerPrecisions and --layerOutputTypes), prefer, or obey (fail if one is not available)",
         [&types](const std::string& text) { types.constraints = constraints_of(text); }});
  f.add({"layerPrecisions", "LAYER:TYPE,...",
         "+compute type of a model's node; one * in a name matches anything: norm*:fp32",
         [&types](const std::string& text) {
           for (const Spec& spec : layer_specs("layerPrecisions", text))
             types.precisions.push_back({spec.layers, type_of("layerPrecisions", spec.type)});
         }});
  f.add(
      {"layerOutputTypes", "LAYER:TYPE+TYPE,...", "+type of each output of a node, or one for all", [&types](const std::string& text) {
         for (const Spec& spec : layer_specs("layerOutputTypes", text)) {
           LayerOutputTypes& one = types.output_types.emplace_back(LayerOutputTypes{spec.layers, {}});
           for (const std::string& type : split(spec.type, '+')) one.types.push_back(type_of("layerOutputTypes", type));
         }
       }});
}

bool any_requested(const ExecOptions& o) { return o.build.fp16 || o.build.bf16 || o.int8_requested || o.fp8_requested || o.int4_requested; }

void keep_types_of_model(ExecOptions& o) {
  if (o.best) throw UsageError("--stronglyTyped and --best exclude each other: one keeps the model's types, the other permits all");
  if (any_requested(o) || o.build.auto_precision)
    o.notes.emplace_back("precision flags beside --stronglyTyped are ignored: every layer computes in the model's types");
  if (!o.data.empty() || !o.calibration_cache.empty())
    throw UsageError("--stronglyTyped keeps the model's types: --data and --calib are for --int8 without it");
  o.build.fp16 = o.build.bf16 = o.int8_requested = o.fp8_requested = o.int4_requested = o.build.auto_precision = false;
  o.build.int8 = o.build.fp8 = true;   // as the model has them
}

}  // namespace

void add_precision_flags(Flags& f, ExecOptions& o) {
  f.add_switch("fp16", o.build.fp16, "enable FP16 on a GPU; CPUs compute in float32");
  f.add_switch("bf16", o.build.bf16, "enable BF16 where it is faster (--best: every precision)");
  f.add({"best", "", "+enable every precision: fp16, bf16, int8, fp8",
         [&o](const std::string&) { o.best = o.build.fp16 = o.build.bf16 = o.build.int8 = o.build.fp8 = o.int8_requested = true; }});
  f.add({"fp8", "", "+enable FP8 (e4m3) GEMMs on a GPU: on by default for models with FP8 Q/DQ; other models need --data",
         [&o](const std::string&) { o.build.fp8 = o.fp8_requested = true; }});
  f.add({"int4", "", "+no effect: weights that the file has in 4 bits stay so where kernels read them",
         [&o](const std::string&) { o.int4_requested = true; }});
  f.add({"precision", "auto", "+choose fp16, bf16 and int8 by device; the build says which, and why", [&o](const std::string& text) {
           if (lower(text) != "auto")
             throw UsageError("--precision is auto, not '" + text + "'; --fp16, --bf16 and --int8 permit one type each");
           o.build.auto_precision = o.int8_requested = true;
         }});
  f.add_switch("stronglyTyped", o.strongly_typed, "+every layer computes in the model's types; precision flags are ignored");
  add_layer_flags(f, o.build.layer_types);
}

void check_precision(ExecOptions& o) {
  const bool builds = o.load_engine.empty();
  if (o.strongly_typed) keep_types_of_model(o);
  if (o.int4_requested) o.notes.emplace_back("--int4 has no effect: weights that the file has in 4 bits stay so where kernels read them");
  if (!builds && !o.build.layer_types.precisions.empty())
    throw UsageError("--layerPrecisions needs --onnx: the types of a plan's layers are fixed when it is built");
  if (!builds && !o.build.layer_types.output_types.empty())
    throw UsageError("--layerOutputTypes needs --onnx: the types of a plan's layers are fixed when it is built");
}

namespace {
std::string why_no_fp8(const ExecOptions& o, const BuildReport& report) {
  if (!is_gpu(o.build.device)) return "CPUs have no e4m3 GEMMs; GPUs have them from compute capability 8.9 on";
  if (report.budget)
    return "no plan with e4m3 GEMMs was faster within --max-error, or this GPU has none (compute capability 8.9 and later)";
  return "it is for GEMMs that the model quantizes to e4m3, or that --data=PATH gives ranges (with --best and --max-error=E), on a GPU "
         "of compute capability 8.9 and later";
}
}  // namespace

void report_precision(const ExecOptions& o, const BuildReport& report) {
  std::string counts;
  for (const auto& [type, layers] : report.layers_by_type)
    counts += (counts.empty() ? "" : ", ") + std::to_string(layers) + " in " + std::string(name(type));
  if (!counts.empty() && (any_requested(o) || o.build.auto_precision)) o.console.info("Layers compute: " + counts + ".");
  const bool has_ranges = report.calibration.has_value() || report.budget.has_value();
  if (o.int8_requested && !o.build.auto_precision && !has_ranges && !report.layers_by_type.count(DType::i8))
    o.console.warn(std::string(o.best ? "--best left int8 out" : "--int8 was not used") +
                      ": the model has no QuantizeLinear and DequantizeLinear, and nothing gives ranges: --data=PATH (typical inputs) or "
                      "--calib=FILE does");
  if ((o.fp8_requested || o.best) && !report.layers_by_type.count(DType::f8e4m3fn)) {
    const std::string why = why_no_fp8(o, report);
    o.best ? o.console.info("--best left fp8 out: " + why) : o.console.warn("--fp8 was not used: " + why);
  }
}

}  // namespace tenfold::cli
