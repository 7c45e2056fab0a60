// The parameters of a model's configuration that begin with "tenfold.".
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tenfold/serving/served_model.h"

namespace tenfold::triton {

struct Parameters {
  std::string device;                            // of all instances; empty: by their instance group
  std::int64_t max_batch_tokens = 0;             // 0: no limit
};

// Sets options by the parameters. Throws invalid_argument for one that is not known, listing those that are, and for a
// value that is none. Parameters of other prefixes are somebody else's.
Parameters configure(const std::map<std::string, std::string>& parameters, ServedModelOptions& options);

// "x:1x16..4x64..8x512,mask:1x16..8x512;..." : for each profile and input least, usual and largest shape, or two of
// them (the largest is the usual one), or one.
std::vector<OptimizationProfile> parse_profiles(const std::string& text);

}  // namespace tenfold::triton
