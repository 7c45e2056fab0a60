// The text form of problems, and names of tactic sources.
#include "backends/tactic.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

std::string operand_text(const OperandDesc& operand) {
  if (operand.missing) return "_";
  std::string out = cat(name(operand.dtype), "[", ir::text(operand.dims), "]");
  if (operand.layout != kPlain) out += cat("@", text(operand.layout));
  if (!operand.dense) out += cat("/[", ir::text(operand.strides), "]");
  if (operand.constant) out += "!";
  if (operand.misaligned) out += "@odd";
  return out;
}

// " for batch=1..8": the ranges that symbols of the problem may take.
std::string range_text(const Problem& problem) {
  if (!problem.box) return "";
  std::set<std::string> used;
  for (const auto* side : {&problem.in, &problem.out})
    for (const OperandDesc& operand : *side)
      for (const ir::Dim& d : operand.dims)
        for (std::string& s : d.symbols()) used.insert(std::move(s));
  std::string out;
  for (const std::string& symbol : used) {
    const auto range = problem.box->find(symbol);
    if (range != problem.box->end()) out += cat(out.empty() ? " for " : ",", symbol, "=", range->second.lower, "..", range->second.upper);
  }
  return out;
}

}  // namespace

ir::Interval Problem::bounds(ir::Dim d) const {
  static const ir::SymbolBounds nothing_known;
  return d.bounds(box ? *box : nothing_known);
}

bool Problem::may_be_misaligned() const {
  const auto odd = [](const OperandDesc& operand) { return operand.misaligned; };
  return std::any_of(in.begin(), in.end(), odd) || std::any_of(out.begin(), out.end(), odd);
}

void Problem::let_be_misaligned(bool odd) {
  for (auto* side : {&in, &out})
    for (OperandDesc& operand : *side) operand.misaligned = odd && !operand.missing;
}

std::string Problem::line() const {
  std::string out = op ? op->name : "?";
  const auto anchor = static_cast<std::size_t>(anchor_inputs);
  for (std::size_t i = 0; i < in.size() && i < anchor; ++i) out += " " + operand_text(in[i]);
  if (attributes && !attributes->empty()) out += " " + ir::text(*attributes);
  out += ir::numerics_words(numerics);
  for (std::size_t i = anchor; i < in.size(); ++i) out += (i == anchor && anchor > 0 ? " with " : " ") + operand_text(in[i]);
  out += " ->";
  for (const OperandDesc& operand : this->out) out += " " + operand_text(operand);
  if (body) out += " body=" + ir::text(*body);
  return out + range_text(*this);
}

bool Tactic::computes(const ir::OpDef& op) const {
  const bool pointwise = op.scalar != nullptr || op.traits.region;
  return std::any_of(ops.begin(), ops.end(),
                     [&](const TacticOp& o) { return o.op == op.name || o.op == "*" || (pointwise && o.op == "*pointwise"); });
}

std::vector<Tactic> by_operator(const std::vector<Tactic>& families) {
  std::vector<Tactic> all;
  for (const Tactic& family : families) {
    for (const std::string_view c : family.cases)
      check(c.starts_with("(") || std::any_of(family.ops.begin(), family.ops.end(), [&](const TacticOp& o) {
              return o.op.starts_with("*") || c.starts_with(o.op + " ");
            }), "tactic '", family.name, "' has a case of an operator that is none of its own: ", c);
    for (const TacticOp& op : family.ops) {
      Tactic& one = all.emplace_back(family);
      one.name = op.name.empty() ? family.name : op.name;
      one.ops = {op.op};
      const bool any = op.op.starts_with("*");
      std::erase_if(one.cases, [&](std::string_view c) { return !any && !c.starts_with("(") && !c.starts_with(op.op + " "); });
    }
  }
  std::sort(all.begin(), all.end(), [](const Tactic& a, const Tactic& b) { return a.name < b.name; });
  return all;
}

std::string_view name(Source source) {
  switch (source) {
    case Source::reference: return "reference";
    case Source::native: return "native";
    case Source::onednn: return "onednn";
    case Source::cublas_lt: return "cublas_lt";
    case Source::cudnn: return "cudnn";
    case Source::plugin: return "plugin";
  }
  return "?";
}

}  // namespace tenfold::backends
