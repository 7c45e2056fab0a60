// The activation of an RNN whose directions share one.
#pragma once

#include <string>

#include "ir/attributes.h"

namespace tenfold::ops {

// "Tanh", also where nothing is said, or "Relu". Empty: there are others, or each direction has its own.
inline std::string one_activation(const ir::Attributes& rnn) {
  if (!rnn.has("activations")) return "Tanh";
  const ir::Strings& names = rnn.strings("activations");
  for (const std::string& name : names)
    if (name != names.front() || (name != "Tanh" && name != "Relu")) return {};
  return names.empty() ? "" : names.front();
}

}  // namespace tenfold::ops
