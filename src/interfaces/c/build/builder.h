// What the files of the builder's C interface share.
#pragma once

#include "c/run/common.h"
#include "tenfold/build.h"
#include "tenfold/c/build.h"
#include "tenfold/c/quantize.h"
#include "tenfold/c/quantize_file.h"
#include "tenfold/internal/c_build_config.h"
#include "tenfold/network.h"
#include "tenfold/quantize_file.h"
#include "tenfold/timing_cache.h"

struct tenfold_network {
  std::unique_ptr<tenfold::Network> own;             // null: a body, which its layer owns
  tenfold::Network* network = own.get();
  std::vector<tenfold::NetworkTensor> values = {};   // by handle
  std::vector<tenfold::NetworkNodeRef> nodes = {};
  // What was handed out last.
  tenfold::NetworkNodeInfo node = {};
  std::vector<tenfold_value> inputs = {}, outputs = {};
  std::vector<const char*> strings = {};
  std::string name = {}, type = {}, text = {};
  tenfold::Shape shape = {};
};
struct tenfold_report {
  tenfold::BuildReport report;
};
struct tenfold_timing_cache {
  std::shared_ptr<tenfold::TimingCache> cache;
  std::string text = {}, key = {};
  tenfold::TimingCache::Fastest fastest = {};
};

namespace tenfold::c {

Calibration calibration_of(const tenfold_calibration* given);
std::vector<tenfold_range> ranges_of(const tenfold_range* ranges, std::int32_t count);   // throws invalid_argument on null
ShapeRange shapes_of(const tenfold_range& range);
QuantizeOptions quantize_options_of(const tenfold_quantize_options* given);
ErrorBudget budget_of(const tenfold_error_budget* given);
// A part of a report that not every build has. Throws invalid_argument naming it.
template <class Part>
const Part& part_of(const tenfold_report* report, std::optional<Part> BuildReport::*part, const char* name) {
  const std::optional<Part>& reported = need(report, "the report").report.*part;
  require(reported.has_value(), ErrorKind::invalid_argument, "the report tells of no ", name);
  return *reported;
}
BuildReport* report_of(const tenfold_build_config* given);   // null: none is wanted

}  // namespace tenfold::c
