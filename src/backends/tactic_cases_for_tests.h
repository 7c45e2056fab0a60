// The problems that tactics ask to be tested with beside the operators' own cases (Tactic::cases). For tests.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/tactic.h"
#include "ir/op_def.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::backends {
std::vector<Tactic> cpu_tactics();
std::vector<Tactic> cuda_tactics();
}  // namespace tenfold::backends

namespace tenfold::backends::testing {

struct TacticCase {
  const ir::OpDef* op = nullptr;
  std::string text;   // as OpDef::cases has them; of a Region, which has a body, a graph of one node
};

// One case as a tactic writes it.
inline TacticCase tactic_case(const std::string& text) {
  const ir::Registry& all = ir::Registry::builtin();
  if (text.starts_with("(")) return {ir::parse_graph(text, all).nodes().front()->def, text};
  const std::size_t space = text.find(' ');
  return {&all.get(text.substr(0, space)), text.substr(space + 1)};
}

// Of every backend's tactics, those for GPUs first, none twice: every tactic is tried on all of them.
inline std::vector<TacticCase> tactic_cases() {
  std::vector<TacticCase> cases;
  std::set<std::string> seen;
  for (const std::vector<Tactic>& tactics : {cuda_tactics(), cpu_tactics()})
    for (const Tactic& tactic : tactics)
      for (const char* text : tactic.cases)
        if (seen.insert(text).second) cases.push_back(tactic_case(text));
  return cases;
}

// The graph of a case; most have one node.
inline ir::Graph graph_of(const TacticCase& c) {
  if (c.text.starts_with("(")) return ir::parse_graph(c.text, ir::Registry::builtin());
  return ops::case_graph(ir::Registry::builtin(), *c.op, ops::parse_case(*c.op, c.text));
}

}  // namespace tenfold::backends::testing
