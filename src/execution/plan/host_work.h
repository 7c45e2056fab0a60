// What of a plan for a GPU the host has to do, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace tenfold::plan {

struct HostWork {
  std::string_view does;   // what: "computes it", "decides"
  std::string why;
  std::string_view waits;  // what crosses the link for it
};

// Of a step of `program`, the top program or a body of it. Nothing where the device does all, and for plans of other devices.
std::optional<HostWork> host_work(const Plan& plan, const Program& top, const Program& program, std::size_t step);

struct HostStep {
  const Step* step;
  HostWork work;
};
// All steps of a program and its bodies that need the host, in the order in which they are told.
std::vector<HostStep> host_steps(const Plan& plan, const Program& top);
std::size_t count_steps(const Program& program);   // bodies included

}  // namespace tenfold::plan
