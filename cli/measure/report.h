// Results: trtexec's summary block and its JSON files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "console.h"
#include "measure/measure.h"

namespace tenfold::cli {

struct Statistics {
  double min = 0, max = 0, mean = 0, median = 0, variation = 0;
  std::vector<double> percentiles;
};
Statistics statistics(std::vector<double> values, const std::vector<double>& percentiles);

std::vector<double> latencies(const Trace& trace);
std::vector<double> part(const Trace& trace, double RunTimes::*which);
// `parts`: runs whose parts were timed. `compute`: what a run's computing is called, "GPU Compute" or "Compute".
void print_summary(const Console& console, const Trace& trace, const Trace& parts, const std::vector<double>& percentiles,
                   const std::string& compute, const std::string& settings);
void print_averages(const Console& console, const Trace& trace, int runs, const std::string& compute);
void print_profile(const Console& console, const std::vector<LayerTimes>& layers);
void print_outputs(const Console& console, const std::vector<std::pair<std::string, Tensor>>& outputs);

void export_times(const std::string& path, const Trace& trace);
void export_profile(const std::string& path, const std::vector<LayerTimes>& layers);
void export_trace(const std::string& path, const Trace& trace, const std::vector<LayerTimes>& layers);   // trace_file.cpp
void export_outputs(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& outputs);  // .npz, otherwise JSON

}  // namespace tenfold::cli
