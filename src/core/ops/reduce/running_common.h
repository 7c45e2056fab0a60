// What running sums and products share. In the graph the axis is an attribute wherever it is known when building, else operand 1.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ir {

struct Running {
  double (*real)(double so_far, double element);
  std::uint64_t (*whole)(std::uint64_t so_far, std::uint64_t element);   // wraps
  std::uint8_t start;   // of nothing
};

OpDef running(std::string name, void (*reference)(Call&), std::vector<std::string> cases);
void run_along(Call& call, const Running& running);

}  // namespace tenfold::ir
