// Values of a context that lie in no memory of a device: strings, sequences, optionals and maps.
#pragma once

#include <string>
#include <vector>

#include "runtime/frame.h"
#include "tenfold/value.h"

namespace tenfold::runtime {

struct ObjectState {
  std::vector<RuntimeValue> values;           // by number; of bindings first
  std::vector<char> bound;                    // by binding: an input's value was bound; empty where no binding takes or gives values
};

bool is_object(const EngineState& engine, std::size_t binding);
void make_objects(ContextState& context);
// Of the right kind, layer by layer, and of the right shape where that is told? "" or what is wrong with it.
std::string misfit(const RuntimeValue& value, const ir::ValueType& type);
// A host step on whole values, its results in tensors of their own: sizes first, then memory, then bytes. Throws.
Status run_on_values(ContextState& context, BoundStep& bound);

}  // namespace tenfold::runtime
