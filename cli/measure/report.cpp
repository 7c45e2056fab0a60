// Results on stdout, line for line as scripts that read trtexec's output expect them.
#include "measure/report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "measure/model_names.h"

namespace tenfold::cli {
namespace {

std::string joined(const auto&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

double percentile_of(const std::vector<double>& sorted, double percent) {
  const auto above = static_cast<std::size_t>((1 - percent / 100) * static_cast<double>(sorted.size()));  // values left out at the top
  return sorted[above >= sorted.size() ? 0 : sorted.size() - 1 - above];
}

std::string words(const Statistics& s, const std::vector<double>& percentiles) {
  std::string text = joined("min = ", s.min, " ms, max = ", s.max, " ms, mean = ", s.mean, " ms, median = ", s.median, " ms");
  for (std::size_t i = 0; i < percentiles.size(); ++i) text += joined(", percentile(", percentiles[i], "%) = ", s.percentiles[i], " ms");
  return text;
}

}  // namespace

Statistics statistics(std::vector<double> values, const std::vector<double>& percentiles) {
  Statistics s;
  s.percentiles.assign(percentiles.size(), 0);
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  s.min = values.front(), s.max = values.back();
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  s.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  double squares = 0;
  for (const double v : values) squares += (v - s.mean) * (v - s.mean);
  s.variation = s.mean > 0 ? std::sqrt(squares / static_cast<double>(n)) / s.mean : 0;
  for (std::size_t i = 0; i < percentiles.size(); ++i) s.percentiles[i] = percentile_of(values, percentiles[i]);
  return s;
}

std::vector<double> latencies(const Trace& trace) {
  std::vector<double> values;
  values.reserve(trace.samples.size());
  for (const Sample& s : trace.samples) values.push_back(s.end_ms - s.start_ms);
  return values;
}

std::vector<double> part(const Trace& trace, double RunTimes::*which) {
  std::vector<double> values;
  for (const Sample& s : trace.samples) values.push_back(s.parts.*which);
  return values;
}

void print_averages(const Console& console, const Trace& trace, int runs, const std::string& compute) {
  console.result("=== Trace details ===");
  console.result(joined("Trace averages of ", runs, " runs:"));
  double gpu = 0, host = 0, enqueue = 0;
  int count = 0;
  for (const Sample& s : trace.samples) {
    gpu += s.parts.compute_ms, host += s.end_ms - s.start_ms, enqueue += s.parts.enqueue_ms;
    if (++count < runs) continue;
    console.result(joined("Average on ", runs, " runs - ", compute, " latency: ", gpu / runs, " ms - Host latency: ", host / runs,
                          " ms (enqueue ", enqueue / runs, " ms)"));
    gpu = host = enqueue = 0, count = 0;
  }
}

void print_summary(const Console& console, const Trace& trace, const Trace& parts, const std::vector<double>& percentiles,
                   const std::string& compute, const std::string& settings) {
  const Statistics s = statistics(latencies(trace), percentiles);
  const auto line = [&](double RunTimes::*which) { return words(statistics(part(parts, which), percentiles), percentiles); };
  const double compute_s = statistics(part(parts, &RunTimes::compute_ms), {}).mean * static_cast<double>(trace.samples.size()) / 1e3;
  console.result("");
  console.result("=== Performance summary ===");
  const double rate = trace.wall_s > 0 ? static_cast<double>(trace.samples.size()) / trace.wall_s : 0;
  console.result(joined("Throughput: ", std::setprecision(rate < 1e6 ? 6 : 10), rate, " qps"));   // scripts read no exponent
  // Latency is that of the one call that waits. On a CPU nothing is transferred, and asking for a run is computing it.
  console.result("Latency: " + words(s, percentiles));
  console.result("Enqueue Time: " + line(&RunTimes::enqueue_ms));
  console.result("H2D Latency: " + line(&RunTimes::host_to_device_ms));
  console.result(compute + " Time: " + line(&RunTimes::compute_ms));
  console.result("D2H Latency: " + line(&RunTimes::device_to_host_ms));
  console.result(joined("Total Host Walltime: ", trace.wall_s, " s"));
  console.result(joined("Total ", compute, " Time: ", compute_s, " s"));
  console.result("Settings: " + settings);
  if (s.variation > 0.025 && trace.samples.size() > 1)
    console.warn(
        joined("Times vary: the coefficient of variation is ", std::setprecision(3), s.variation * 100, "%. Is the machine busy?"));
}

void print_profile(const Console& console, const std::vector<LayerTimes>& layers) {
  double total = 0, average = 0, median = 0, slow = 0, slow_average = 0, slow_median = 0;
  std::size_t count = 0;
  for (const LayerTimes& l : layers) total += std::accumulate(l.ms.begin(), l.ms.end(), 0.0), count = std::max(count, l.ms.size());
  const auto row = [&](double sum, double mean, double middle, const std::string& start, const std::string& name) {
    console.result(joined(std::fixed, std::setprecision(3), std::setw(12), sum, std::setprecision(5), std::setw(13), mean, std::setw(13),
                          middle, std::setprecision(1), std::setw(10), total > 0 ? 100 * sum / total : 0, std::setw(13), start, "   ",
                          name));
  };
  console.result("");
  console.result(joined("=== Profile (", count, " iterations ) ==="));
  console.result("    Time(ms)     Avg.(ms)   Median(ms)   Time(%)    Start(ms)   Layer");
  for (const LayerTimes& l : layers) {
    const Statistics s = statistics(l.ms, {});
    row(s.mean * static_cast<double>(l.ms.size()), s.mean, s.median,
        joined(std::fixed, std::setprecision(5), statistics(l.start_ms, {}).median),
        l.name + nodes_text(l.nodes) + (l.reference ? "  [reference kernel, one thread]" : ""));
    average += s.mean, median += s.median;
    if (l.reference) slow += s.mean * static_cast<double>(l.ms.size()), slow_average += s.mean, slow_median += s.median;
  }
  if (slow > 0) row(slow, slow_average, slow_median, "", "On reference kernels");
  row(total, average, median, "", "Total");
}

void print_outputs(const Console& console, const std::vector<std::pair<std::string, Tensor>>& outputs) {
  console.result("Output Tensors:");
  for (const auto& [name, tensor] : outputs) {
    console.result(name + ": (" + text(tensor.shape()) + ")");
    std::ostringstream line;
    const bool words = tensor.dtype() == DType::string;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      line << (i ? " " : "");
      if (words) line << std::quoted(tensor.string_values()[static_cast<std::size_t>(i)]);
      else line << tensor.as_double(i);
    }
    console.result(line.str());
  }
}

}  // namespace tenfold::cli
