// What of a body with reductions is computed when: a reduction needs all elements of its row, so the row is walked once for each level of
// reductions, and once more for the results. Each walk computes again what it needs of the elements, unless it is dear and kept.
#pragma once

#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// A part of a body: `body` computes some values from `given` ones; both are numbers of values of the whole.
struct RowPart {
  ir::Body body;
  std::vector<int> given, computed;
};

struct RowPhase {
  RowPart elements;             // what is reduced, in the order of `reductions`, then what is kept
  std::vector<int> reductions;  // their values
  std::vector<int> kept;        // values of elements that later walks are given
  RowPart behind;               // what is one number for each row and follows from them
};

struct RowPhases {
  std::vector<bool> narrow;  // by value: one number for each row
  RowPart before;            // what is one number for each row and needs no reduction
  std::vector<RowPhase> phases;
  RowPart results;           // the results that have elements
  int reductions = 0;
};

// No, with the reason, if the body is none that a kernel can walk in rows.
Verdict can_walk(const ir::Body& body, const std::vector<bool>& narrow_inputs);
// `keeps`: exponentials and the like that several walks need are computed by the first one only.
RowPhases row_phases(const ir::Body& body, const std::vector<bool>& narrow_inputs, bool keeps = false);

}  // namespace tenfold::backends::cuda
