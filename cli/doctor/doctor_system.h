// What a report of a fault needs to say of this machine, and what is wrong with it.
#pragma once

#include <string>
#include <vector>

namespace tenfold::cli {

struct SystemCheck {
  enum Verdict { ok, missing, fails };   // missing: something optional; fails: Tenfold, or a device, cannot be used as it is
  std::string topic, found;
  Verdict verdict = ok;
  std::string what_to_do = {};
};

// Versions, processor, memory, GPUs, libraries, the folder of plans (made, if it is not there), and a small model that is built and run on
// each device. Never throws for what it finds.
std::vector<SystemCheck> check_system();

}  // namespace tenfold::cli
