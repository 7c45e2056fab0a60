// Rounded weights bettered one by one.
#pragma once

#include <vector>

namespace tenfold::quant {

// The weights of one sum as whole numbers of steps. All have an element for each weight.
struct Stepped {
  std::vector<float> weights, steps;         // what is to be stood for, and the scale
  std::vector<float> levels;                 // levels * steps stand for it
  std::vector<float> min, max;            // that a level may become
};

// Coordinate descent: by turns each weight takes the level that lessens the error of the sum most, until none changes or three times
// through all. `moments`: of the sum's data, [n, n] (Moments::damped).
void descend(const std::vector<float>& moments, Stepped& column);

}  // namespace tenfold::quant
