// Walking through a calibration's samples, and comparing answers.
#pragma once

#include "base/check.h"
#include "tenfold/quantize.h"
#include "tenfold/value.h"

namespace tenfold::builder {

// Every second one from `first` on.
template <class Use>
void for_each_sample(const Calibration& calibration, int first, Use&& use) {
  for (int i = first; i < calibration.samples; i += 2) {
    const std::optional<InputSet> sample = calibration.sample(i);
    if (!sample) return;
    try {
      use(*sample);
    } catch (Error& e) {
      throw e.within(cat("sample ", i, " of the calibration"));
    }
  }
}

// Squares of the difference and of what is wanted; both are left alone where there are no floats. Other shapes differ by all of it.
void add_difference(const RuntimeValue& got, const RuntimeValue& want, double& error, double& size);

}  // namespace tenfold::builder
