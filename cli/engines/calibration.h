// Flags of 8-bit builds of plain models, and the data that gives their ranges.
#pragma once

#include "data/data.h"
#include "engines/exec_options.h"
#include "flags/flags.h"

namespace tenfold::cli {

void add_int8_flag(Flags& flags, ExecOptions& options);
void add_calibration_flags(Flags& flags, ExecOptions& options);   // of samples
std::vector<std::string> parse_corrections(const std::string& text);   // of --corrections: names, or none of them
void check_calibration(ExecOptions& options);   // throws UsageError for flags that need others

// Samples that give ranges, and those that show what became of them.
class CalibrationData {
 public:
  // What --data and --checkData name; nothing without them. `config`: as the model is built, but for this. Throws as open_samples() does,
  // and Error(io) where --dumpSamples cannot be written.
  CalibrationData(const ExecOptions& options, const BuildConfig& config);
  Calibration calibration(const ExecOptions& options) const;
  // The shapes to build for where none were given and photographs settle them: an image's sides may be dynamic in the model. Else none.
  std::vector<OptimizationProfile> profiles(const ExecOptions& options) const;

  const std::vector<BindingInfo>& bindings() const { return bindings_; }  // of the model; none without --data
  // Where samples that check lie: in samples(), from first() on, every step() of most().
  formats::Samples& samples() const { return check_ ? *check_ : *data_; }
  int first() const { return check_ ? 0 : 1; }
  int step() const { return check_ ? 1 : 2; }
  int max_samples() const { return max_samples_; }

 private:
  std::vector<BindingInfo> bindings_;
  std::shared_ptr<formats::Samples> data_, check_;
  int max_samples_ = 0;
};

}  // namespace tenfold::cli
