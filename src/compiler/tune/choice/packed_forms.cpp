// Forms by their bytes.
#include "tune/choice/packed_forms.h"

#include "base/check.h"
#include "base/files/hash.h"
#include "ir/recipe.h"
#include "tune/choice/node_problem.h"
#include "tune/timing/timer.h"

namespace tenfold::tune {
namespace {

// As a pool of constants keeps it: a refit replaces what is packed, so other tactics have copies of their own (builder/program).
std::string refit_key(const ir::Node& node, const NodeChoice& choice) {
  for (const ir::Value* v : node.inputs)
    if (v && v->is_constant() && ir::may_change(*v->constant))
      return cat(" by ", choice.tactic->name, " ", choice.tactic->version, " ", config_text(choice.config));
  return "";
}

}  // namespace

std::vector<const ir::Value*> PackedForms::constants_of(const ir::Node& node) {
  std::vector<const ir::Value*> all;
  for (const ir::Value* v : node.inputs)
    if (is_large(v)) all.push_back(v);
  return all;
}

std::vector<PackedForm> PackedForms::of(const ir::Node& node, const NodeChoice& choice, const TuneOptions& options) {
  std::vector<PackedForm> forms;
  if (!choice.tactic || !choice.tactic->packed_bytes) {
    for (const ir::Value* v : constants_of(node)) forms.push_back({"plain", v->constant->tensor.bytes()});
    return forms;
  }
  const backends::Problem problem = node_problem(node, &choice.formats, options.box, device_, options.config->workspace_bytes);
  const std::string refit = refit_key(node, choice);
  const auto [at, fresh] =
      known_.try_emplace(cat(problem.line(), "\n", choice.tactic->name, "\n", config_text(choice.config), "\n", refit));
  if (fresh) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (is_large(node.inputs[i])) forms.push_back(packed(node, choice, problem, static_cast<int>(i)));
    for (PackedForm& form : forms)
      if (form.key != "plain") form.key += refit;
    at->second = std::move(forms);
  }
  return at->second;
}

PackedForm PackedForms::packed(const ir::Node& node, const NodeChoice& choice, const backends::Problem& problem, int input) {
  const Tensor& own = node.inputs[static_cast<std::size_t>(input)]->constant->tensor;
  const std::int64_t bytes = choice.tactic->packed_bytes(problem, choice.config, input);
  if (bytes < 0) return {"plain", own.bytes()};
  const Tensor& sample = samples_.try_emplace(cat(name(own.dtype()), text(own.shape())), own).first->second;
  std::vector<const Tensor*> constants;
  for (const ir::Value* v : node.inputs) constants.push_back(v && v->constant ? &v->constant->tensor : nullptr);
  constants[static_cast<std::size_t>(input)] = &sample;
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes) + 64);   // zeros
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
  std::byte* const packed = memory.data() + (64 - misaligned) % 64;
  choice.tactic->pack(problem, choice.config, input, constants, packed);
  const Hash128 hash = hash128({packed, static_cast<std::size_t>(bytes)});
  return {cat(bytes, " ", hash.high, " ", hash.low), bytes};
}

}  // namespace tenfold::tune
