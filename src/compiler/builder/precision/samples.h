// Walking through a calibration's samples, and comparing answers.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "tenfold/quantize.h"
#include "tenfold/value.h"

namespace tenfold::builder {

// Samples `first`, first + 2, first + 4 and so on of a calibration.
struct Batch {
  int first = 0;
  std::vector<InputSet> samples = {};
  int number(std::size_t i) const { return first + 2 * static_cast<int>(i); }
};

// Calls work(); what it throws says in which sample.
template <class Work>
void in_sample(int number, Work&& work) {
  try {
    work();
  } catch (Error& e) {
    throw e.within(cat("sample ", number, " of the calibration"));
  }
}

// Every second one from `first` on, so many at a time.
template <class Use>
void for_each_batch(const Calibration& calibration, int first, std::size_t size, Use&& use) {
  Batch batch{first};
  const auto give = [&](int next) {
    if (!batch.samples.empty()) use(std::as_const(batch));
    batch = {next};
  };
  for (int i = first; i < calibration.samples; i += 2) {
    std::optional<InputSet> sample = calibration.sample(i);
    if (!sample) break;
    batch.samples.push_back(std::move(*sample));
    if (batch.samples.size() == size) give(i + 2);
  }
  give(0);
}

// Every second one from `first` on.
template <class Use>
void for_each_sample(const Calibration& calibration, int first, Use&& use) {
  for_each_batch(calibration, first, 1, [&](const Batch& one) { in_sample(one.first, [&] { use(one.samples.front()); }); });
}

// Squares of the difference and of what is wanted; both are left alone where there are no floats. Other shapes differ by all of it.
void add_difference(const RuntimeValue& got, const RuntimeValue& expected, double& error, double& size);

}  // namespace tenfold::builder
