// Which values of a graph may have more channels than the model gives them, and what these hold.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::passes {

// A convolution of one group whose filters are known, of 8 or 16 bits.
bool is_narrow_product(const ir::Node& n);
inline bool is_transposed(const ir::Node& product) { return product.op() == "ConvTranspose"; }
// A constant with one value for each channel of `of`: [C, 1, 1], [1, C, 1, 1].
bool is_by_channel(const ir::Value& v, const ir::Value& of);

class PaddedChannels {
 public:
  explicit PaddedChannels(const ir::Graph& graph);

  // How many channels the value gets; nothing: it stays as it is.
  std::optional<std::int64_t> channels(const ir::Value* v) const;
  // What the new elements of a node's operands by channel are.
  double filler(const ir::Node& n) const;

 private:
  struct Held { double value; std::size_t set; };
  void look_at(const ir::Node& n);
  std::optional<double> held_by_result(const ir::Node& n, double filler) const;
  void join(const ir::Node& n, double value);
  void choose();
  std::size_t set_of(std::size_t i) const;

  std::map<const ir::Value*, Held> held_;          // by candidate: one number in all new channels
  std::map<const ir::Node*, double> fillers_;
  std::vector<std::size_t> sets_;                   // of values that get the same channels, as a forest
  std::map<std::size_t, std::int64_t> channels_;    // by set that is chosen
};

}  // namespace tenfold::passes
