// A small model, built and run on a device, beside the same numbers in f64.
#pragma once

#include <string>

namespace tenfold::cli {

struct SelfTest {
  bool passed = false;
  std::string words;   // "a product and a softmax differ from f64 by 1.2e-08, ...", or what failed
};
SelfTest self_test(const std::string& device);   // never throws

}  // namespace tenfold::cli
