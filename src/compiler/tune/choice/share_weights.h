// Choosing the kernels of several profiles together, so that they pack weights in few forms.
#pragma once

#include <span>

#include "tune/tuner.h"

namespace tenfold::tune {

// What choose() made of one profile.
struct ProfileChoice {
  const ir::Graph* before = nullptr;   // as it was given to choose()
  const ir::Graph* graph = nullptr;
  Chosen* chosen = nullptr;
  const TuneOptions* options = nullptr;
};

struct WeightBytes {
  std::int64_t alone = 0;     // of the profile that has most, by itself: in its forms, or before they are packed
  std::int64_t fastest = 0;   // of all together, each with its fastest kernels
  std::int64_t held = 0;      // as they are now
  struct Changed {
    std::size_t profile = 0;
    const ir::Node* node = nullptr;
    Candidate from, to;
  };
  std::vector<Changed> changed = {};
};

// Large constants alone. Where they take more than `ratio` times what one profile takes, choices change to others that were timed, and
// to those that other profiles have, which are timed then; layouts stay. 0: it only counts.
WeightBytes share_weights(std::span<const ProfileChoice> profiles, backends::Backend& backend, double ratio);

}  // namespace tenfold::tune
