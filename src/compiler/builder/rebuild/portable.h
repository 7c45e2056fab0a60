// The portable section of a plan: the graphs as the tuner got them, as text, so that another machine's builder can choose again.
//
//   portable 2                 1: from before graphs told the model's names
//   stored f32[768] 12          constant 0 of the graphs: the plan's constant 12, as it is
//   packed f32[768,3072] 13     constant 1: the plan's constant 13, through unpack of a step that reads it
//   literal i64[2]{1,-1}        constant 2: no step reads it
//   rounded                     packings do not give back every bit, or did not when the plan was tuned before: what the plan multiplies
//                               is all there is. Of weights that a refit may change this is said beforehand
//   graph                       one per program; constants by number
//     (x f32[batch,768]) ...
#pragma once

#include "backends/tactic_set.h"
#include "base/log.h"
#include "builder/program/assemble.h"

namespace tenfold::builder {

class PortableGraphs {
 public:
  void add(const ir::Graph& graph);
  void say_rounded() { rounded_ = true; }   // the graphs' own constants are
  // Empty, with a message, where a packing cannot be undone. Long constants that no step reads join the plan's.
  std::string text(const plan::Plan& plan, ConstantPool& pool, const backends::TacticSet& tactics, const ir::Registry& registry,
                   const Log& log) const;

 private:
  std::vector<std::shared_ptr<const ir::Constant>> constants_;
  std::vector<std::string> graphs_;
  bool rounded_ = false;
};

struct PortableModel {
  std::vector<ir::Graph> graphs;   // one per program
  bool rounded = false;
};
// Throws plan_refused where the section is missing or does not fit the plan. The plan must have been verified with `tactics`, whose
// device must be the plan's. Rounded weights take `tf32`, as they did when they were packed.
PortableModel read_portable(const plan::Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry, bool tf32);

}  // namespace tenfold::builder
