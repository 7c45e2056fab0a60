// The first layer in which two engines differ: values inside them, matched by the names that the model gives them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compare/distance.h"
#include "tenfold/engine.h"

namespace tenfold::cli {

class Layers {
 public:
  // Observers for the run that is recorded and, afterwards, for the run that is compared with it.
  ObserverCallback record();
  ObserverCallback compare();

  struct Difference { std::string step; Distance distance; };
  // In the order of the recorded run; nothing if no value lies further apart than `tolerance` times the largest.
  std::optional<Difference> first_difference(double tolerance) const;
  int compared() const { return compared_; }   // values that both engines have

 private:
  struct Recorded { std::string name, step; Tensor value; std::optional<Distance> distance; };
  std::vector<Recorded> recorded_;
  std::map<std::string, std::size_t, std::less<>> index_;
  int compared_ = 0;
};

}  // namespace tenfold::cli
