// How the operands and results of a loop step map to the bindings of its body. Loop and Scan differ only in their numbers.
//
//   Loop   in: trip count, condition, carried, captures         body: iteration, condition, carried, captures -> condition, carried, slices
//   Scan   in: carried, sliced, captures                        body: carried, one slice of each, captures    -> carried, slices
//   both   out: carried, one stack of slices each, and for each carried value a second place of the same kind: an iteration reads
//          one of the two and writes the other
//
// A carried value of a Loop may change its extents from one iteration to the next. Its body's operand then has symbols for them, which the
// loop defines: before each iteration with the extents that the value has, and at the end with those of the result. Such a value has two
// places in growing buffers beside its result, for the caller's memory has room for the result alone:
//
//          out: carried, stacks, a place for each carried value, and behind them one more for each that changes its extents
#pragma once

#include <array>

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
inline LoopForm loop_form(const Step& step) {   // of a step with a body
  LoopForm f = loop_form(step.attributes, step.out.size());
  f.stacked = step.programs[0].outputs.size() - f.body_header() - f.carried;   // places are no results
  return f;
}
// Does carried value `c` change its extents? Equal dims of one table have one index.
inline bool changes_extents(const Step& step, const LoopForm& form, std::size_t c) {
  const std::vector<DimIndex>& formal = step.programs[0].inputs[form.header + c].dims;
  return formal != step.in[form.header + c].dims || formal != step.programs[0].outputs[form.body_header() + c].dims;
}
// Of each carried value: the results of the step where its iterations lie, in turn.
using LoopPlaces = std::vector<std::array<std::size_t, 2>>;
inline LoopPlaces loop_places(const Step& step, const LoopForm& form) {
  LoopPlaces places;
  std::size_t further = form.first_spare() + form.carried;
  for (std::size_t c = 0; c < form.carried; ++c)
    if (changes_extents(step, form, c)) places.push_back({form.first_spare() + c, further++});
    else places.push_back({c, form.first_spare() + c});
  return places;
}
// Does stack or operand `i` of a Scan run from the last slice to the first?
inline bool backwards(const Step& step, const char* attribute, std::size_t i) {
  const ir::Ints list = step.attributes.ints(attribute, {});
  return i < list.size() && list[i] != 0;
}

}  // namespace tenfold::plan
