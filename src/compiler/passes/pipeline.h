// The order of all passes of a build, for one device and one configuration.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "backends/device_info.h"
#include "passes/pass.h"
#include "passes/precision/own_types.h"
#include "quant/place_qdq.h"
#include "tenfold/build.h"

namespace tenfold::passes {

// What was found in a graph, and decides which passes settle its precision.
struct PrecisionFacts {
  bool quantized = false;            // it has DequantizeLinear nodes (precision/qdq.h)
  std::set<std::string> wide = {};   // names of values that f16 cannot hold
  bool rows = false;                 // products quantize their rows as they run: a calibration "dynamic" of a plain model
  quant::Ranges ranges = {};         // of values that a calibration saw: their products become products of 8 bits
  OwnTypes types = {};               // of a model that computes in 16 bits itself
};

struct Pipeline {
  std::vector<Pass> rewrite;      // one form of everything; what frameworks write apart is recognized
  std::vector<Pass> precision;    // 8-bit products, 16-bit values, and what each node may round
  std::vector<Pass> fuse;         // eagerly: the tuner cuts again what does not pay
  std::vector<Pass> other_form;   // on a copy of what these made: the tuner compares both. Empty: there is no other form
  std::vector<Pass> in_order() const;   // the first three
};
Pipeline pipeline_for(const backends::DeviceInfo& device, const BuildConfig& config, const PrecisionFacts& facts = {});

// What a device gains by where Q/DQ are placed for it, of the types that a calibration permits.
quant::Placing placing_for(const backends::DeviceInfo& device, const BuildConfig& config);
// The 8 bits that a calibration and BuildConfig::int8 and fp8 permit, and that this device multiplies, the usual ones first.
std::vector<DType> calibrated_types(const backends::DeviceInfo& device, const BuildConfig& config);

// The names of BuildConfig::disabled_passes: passes that may be left out.
std::set<std::string> pass_names();

}  // namespace tenfold::passes
