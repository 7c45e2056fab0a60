// How the operands and results of a loop step map to the bindings of its body. Loop and Scan differ only in their numbers.
//
//   Loop   in: trip count, condition, carried, captures         body: iteration, condition, carried, captures -> condition, carried, slices
//   Scan   in: carried, sliced, captures                        body: carried, one slice of each, captures    -> carried, slices
//   both   out: carried, one stack of slices each, and for each carried value a second place of the same kind: an iteration reads
//          one of the two and writes the other
#pragma once

#include "plan/plan.h"

namespace tenfold::plan {

struct LoopForm {
  std::size_t header = 0;      // operands before the carried ones: 2 or 0
  std::size_t carried = 0, sliced = 0, stacked = 0;
  std::size_t body_header() const { return header ? 1 : 0; }   // results of the body before the carried ones
  std::size_t first_spare() const { return carried + stacked; }
};

// A Scan, which runs once for each slice of its operands, says how many of them have slices.
inline bool runs_by_slices(const ir::Attributes& attributes) { return attributes.has("num_scan_inputs"); }
// Numbers that do not fit the step are refused by verify(); -1 stands for an attribute that is missing.
inline LoopForm loop_form(const ir::Attributes& attributes, std::size_t results) {
  const bool scan = runs_by_slices(attributes);
  const auto number = [&](const char* name) { return static_cast<std::size_t>(attributes.integer(name, -1)); };
  LoopForm f;
  f.header = scan ? 0 : 2;
  f.carried = number(scan ? "num_states" : "carried");
  f.sliced = scan ? number("num_scan_inputs") : 0;
  f.stacked = results - f.carried;
  return f;
}
inline LoopForm loop_form(const Step& step) {
  LoopForm f = loop_form(step.attributes, step.out.size());
  f.stacked -= f.carried;   // the second places are no results
  return f;
}
// Does stack or operand `i` of a Scan run from the last slice to the first?
inline bool backwards(const Step& step, const char* attribute, std::size_t i) {
  const ir::Ints list = step.attributes.ints(attribute, {});
  return i < list.size() && list[i] != 0;
}

}  // namespace tenfold::plan
