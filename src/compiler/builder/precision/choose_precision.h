// BuildConfig::auto_precision: the permissions that the device and the model suggest.
#pragma once

#include "builder/builder.h"

namespace tenfold::builder {

// Sets fp16, bf16 and int8, and notes what was chosen and why.
void choose_precision(BuildConfig& config, const ir::Graph& model, const backends::DeviceInfo& device, BuildReport& report);

// The forms of one profile's graph, what each takes in nanoseconds (0 if it was not timed), and which one was taken.
struct TimedForms {
  const std::vector<ir::Graph>& forms;
  const std::vector<std::int64_t>& nanoseconds;
  std::size_t taken = 0, profile = 0, profiles = 1;
};

// Keeps in the report in which types the layers of the first profile compute in the form that was taken. Where auto_precision chose bf16,
// a note says what that takes beside f32.
void report_types(const TimedForms& forms, const BuildConfig& config, BuildReport& report);

// Where auto_precision chose bf16 and a layer has it: runs the plan and the model in f32 on the typical inputs, or at random, and notes
// by how much the outputs differ. Builds that time nothing are left as they are; inputs that fail and models above
// kMaxCompared are noted as such.
void report_rounding(const ir::Graph& source, const Engine& engine, const BuildConfig& config, BuildReport& report);

}  // namespace tenfold::builder
