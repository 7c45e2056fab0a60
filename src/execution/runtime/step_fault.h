// Whose fault it is that a step failed, and the words for it.
//
// All that a node can be refused for beside its values was looked at when the plan was made and loaded. So whatever refuses a
// step in a run (check_shape, validate and supported of ir/fault.h, extents that disagree) speaks of the values given:
// Status::invalid_input, or bad_index for an index. Status::failed is left for what no other inputs would mend: a kernel that
// cannot be launched, a plug-in, a bug of ours.
#pragma once

#include "runtime/frame.h"

namespace tenfold::runtime {

// In a handler: the status of the exception being handled. Its words become the context's last_error.
Status fault_of_exception(ContextState& context) noexcept;

// Another input might be answered.
inline bool is_of_values(Status::Code code) noexcept {
  return code == Status::invalid_input || code == Status::bad_index || code == Status::too_large;
}

// Behind a step that was refused for its values: what its short operands hold, where the host can read them. `nested`: the step is one of
// a body, and no status will name it.
void add_operands(ContextState& context, const BoundStep& bound, bool nested) noexcept;

}  // namespace tenfold::runtime
