#include "builder/time_limit.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tenfold::builder {
namespace {

thread_local const char* stage = nullptr;

double checked(double seconds) {
  require(seconds >= 0, ErrorKind::invalid_argument, "time_limit_s is ", seconds, ", expected seconds, or 0 for no limit");
  constexpr double kForever = 1e9;   // which the clock can still count
  return std::min(seconds, kForever);
}

std::string text(double seconds) {
  return cat("the build took longer than its limit of ", seconds, " s (time_limit_s, --buildTimeout) and was ended while ",
             stage ? stage : "it began", ": raise the limit, or let the build do less, by a lower optimization level or a timing cache");
}

}  // namespace

TimeLimit::TimeLimit(const BuildConfig& config)
    : seconds_(checked(config.time_limit_s)),
      end_(std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds_))),
      interrupts_([this] { return seconds_ == 0 || std::chrono::steady_clock::now() < end_; }, [this] { return text(seconds_); }) {}

InStage::InStage(const char* name) : outer_(std::exchange(stage, name)) {
  try {
    throw_if_cancelled();
  } catch (...) {
    stage = outer_;
    throw;
  }
}
InStage::~InStage() { stage = outer_; }

}  // namespace tenfold::builder
