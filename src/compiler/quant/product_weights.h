// How the weights of a product lie: which element multiplies which channel of the data, for which channel of the result.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph.h"

namespace tenfold::quant {

struct ProductWeights {
  std::int64_t in = 0, out = 0;            // channels
  std::int64_t groups = 1, taps = 1;       // of a convolution
  std::int64_t row = 0, step = 0;          // in elements: from one output channel to the next, from one term of its sum to the next
  bool channels_last = false;              // of the data: along its last axis; else its axis 1

  std::int64_t in_of_group() const { return in / groups; }
  std::int64_t terms() const { return in_of_group() * taps; }   // of each sum; those of one input channel stand together
  std::int64_t first_in(std::int64_t o) const { return o / (out / groups) * in_of_group(); }

  // use(place of the element, input channel, output channel)
  template <class Use>
  void each(Use&& use) const {
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < terms(); ++i) use(o * row + i * step, first_in(o) + i / taps, o);
  }
};

// Nothing for what is no product of data and constant, finite f32 weights that 8 bits could stand for.
std::optional<ProductWeights> weights_of(const ir::Node& product);

}  // namespace tenfold::quant
