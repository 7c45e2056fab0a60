// Rounded weights bettered one by one.
#pragma once

#include <vector>

namespace tenfold::quant {

// The weights of one sum as whole numbers of steps. All have an element for each weight.
struct Stepped {
  std::vector<float> weights, steps;         // what is to be stood for, and the scale
  std::vector<float> levels, least, most;    // what stands for it is levels * steps
};

// Coordinate descent: by turns each weight moves by a step where that lessens the error of the sum, until none does or three times through
// all. `moments`: of the sum's data, [n, n] (Moments::damped). A weight stays within a step of what it stands for, and one that is further
// off already, for it was clipped, as it is.
void descend(const std::vector<float>& moments, Stepped& column);

}  // namespace tenfold::quant
