#include "passes/recurrent.h"

#include "ops/recurrent/one_activation.h"

namespace tenfold::passes {

std::string activation_of_recurrent(const ir::Node& node) {
  return node.op() == "RNN" ? ops::one_activation(node.attributes) : "Tanh";
}

bool is_plain_recurrent(const ir::Node& n) {
  if (n.op() != "LSTM" && n.op() != "GRU" && n.op() != "RNN") return false;
  for (const char* option : {"activations", "activation_alpha", "activation_beta"})
    if (n.attributes.has(option) && !(n.op() == "RNN" && std::string_view(option) == "activations")) return false;
  if (activation_of_recurrent(n).empty() || n.attributes.number("clip", 0) != 0 || n.attributes.integer("input_forget", 0) != 0)
    return false;
  return n.attributes.integer("layout") == 0 && !n.body && !n.in(4) && !n.in(7) && n.in(0)->rank() == 3;
}

}  // namespace tenfold::passes
