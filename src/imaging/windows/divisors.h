// What divides the sums of a plane: the weights of all windows that cover its voxels.
#pragma once

#include <cstdint>
#include <vector>

namespace tenfold::windows {

struct Divisors {                  // of a thread
  std::vector<const float*> maps;  // planes whose sum divides
  bool surely_positive = false;    // all voxels of all maps
  bool positive = true;            // what was asked for so far
  std::vector<float> sum;          // as large as what is asked for at once

  // Over `count` voxels of the plane, which begin at `at`.
  const float* over(std::int64_t at, std::int64_t count);
};

}  // namespace tenfold::windows
