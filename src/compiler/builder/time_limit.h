// BuildConfig::time_limit_s: a build that takes longer ends with an error that says in which stage.
#pragma once

#include <chrono>

#include "tenfold/build.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::builder {

// From its construction on, work of this thread ends with ErrorKind::cancelled once the limit is passed: where it asks
// whether to go on. A limit of 0 is none. Throws invalid_argument for one that is no number from 0 on.
class TimeLimit {
 public:
  explicit TimeLimit(const BuildConfig& config);

 private:
  double seconds_;
  std::chrono::steady_clock::time_point end_;
  Interrupts interrupts_;
};

// What this thread's build does while the object lives: "tuning". Stages may lie inside each other. Asks whether to go on.
class InStage {
 public:
  explicit InStage(const char* name);
  ~InStage();
  InStage(const InStage&) = delete;
  InStage& operator=(const InStage&) = delete;

 private:
  const char* outer_;
};

}  // namespace tenfold::builder
