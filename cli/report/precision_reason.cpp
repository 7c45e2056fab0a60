// From the build's notes, from what overflowed, and from the options that the plan keeps.
#include "report/precision_reason.h"

#include <algorithm>
#include <cstdio>

#include "inspect/why.h"

namespace tenfold::cli {
namespace {

bool is_about(const PlanFacts& facts, const PlanStep& step, const std::string& name) {
  if (name.empty()) return false;
  const std::vector<PlanNode>& nodes = facts.plan.programs[static_cast<std::size_t>(facts.profile)].nodes;
  return name == step.name ||
         std::any_of(step.nodes.begin(), step.nodes.end(), [&](std::int32_t n) { return nodes[static_cast<std::size_t>(n)].name == name; });
}

// "fp16=1" in the line of options.
bool permits(const PlanFacts& facts, const std::string& option) {
  return (" " + facts.plan.build_options + " ").find(" " + option + "=1 ") != std::string::npos;
}

std::string permitted(const PlanFacts& facts, const std::string& option, const std::string& type) {
  if (facts.plan.build_options.empty()) return type + ": the plan does not keep the options of its build";
  return permits(facts, option) ? type + " is permitted (" + option + "=1)" : type + " is the model's own type: " + option + " is off";
}

std::string reason_of_f32(const PlanFacts& facts, const std::string& numerics) {
  std::string why = "no narrower float is permitted (fp16=0, bf16=0)";
  for (const char* option : {"fp16", "bf16"})
    if (permits(facts, option)) (why = option) += " is permitted; f32 was kept: no narrower kernel was faster, or the device has none";
  if (numerics.find("round_to=tf32") != std::string::npos) why += "; products may round their operands, as TF32 does (tf32=1)";
  return why;
}

}  // namespace

std::string precision_reason(const PlanFacts& facts, const PlanStep& step, const Json& json) {
  if (facts.build)
    for (const WideReport& w : facts.build->kept_in_f32)
      if (is_about(facts, step, w.node)) {
        char largest[32];
        std::snprintf(largest, sizeof largest, "%g", w.largest);
        return std::string("kept in f32: its results reach ") + largest + ", beyond what fp16 holds (looked for on " +
               name_of(facts.build->overflow_checked_on) + ")";
      }
  if (facts.info)
    for (const Note& n : facts.info->notes)
      if (n.kind == NoteKind::precision && is_about(facts, step, n.step)) return n.text;
  const std::string type = json["compute"].get<std::string>(), numerics = json.value("numerics", "");
  if (type.empty()) return "";
  if (numerics.find("round_to=bf16") != std::string::npos) return permitted(facts, "bf16", "bf16");
  if (numerics.find("round_to=f16") != std::string::npos) return permitted(facts, "fp16", "f16");
  if (type == "f16") return permitted(facts, "fp16", "f16");
  if (type == "bf16") return permitted(facts, "bf16", "bf16");
  if (type == "i8" || type == "u8" || type.starts_with("f8") || type == "i4" || type == "u4") {
    if (facts.build && facts.build->calibration) return "8 bits by the ranges of the calibration's samples";
    return "8 bits come from the model itself (QuantizeLinear, DequantizeLinear)";
  }
  if (type == "f32") return reason_of_f32(facts, numerics);
  return "the model's type";
}

}  // namespace tenfold::cli
