// Timing: a few launches in one graph, replayed between two events, and the median of the replays.
#include "backends/cuda/measure.h"

#include <algorithm>

namespace tenfold::backends::cuda {
namespace {

// Nanoseconds that `work` takes on the device.
template <class F>
double timed(CudaStream& stream, F&& work) {
  stream.mark(0);
  if (work() != Status::ok) return kFailed;
  stream.mark(1);
  if (stream.wait() != Status::ok) return kFailed;
  return stream.between(0, 1) * 1e6;
}

}  // namespace

double measure_device(CudaStream& stream, const Tactic& tactic, const void* kernel, const RunArgs& args, const MeasureBudget& budget) {
  const auto launch = [&] { return stream.launch(tactic, kernel, args); };
  if (timed(stream, launch) >= kFailed) return kFailed;  // libraries and modules set themselves up
  const double once = timed(stream, launch);
  if (once >= kFailed || (budget.give_up_ns > 0 && once > 4 * budget.give_up_ns + 20e3))
    return once;  // a plain launch adds some microseconds
  const int launches = static_cast<int>(std::clamp(200e3 / std::max(once, 1e3), 1.0, 20.0));
  if (!stream.start()) return once;
  Status::Code code = Status::ok;
  for (int i = 0; i < launches && code == Status::ok; ++i) code = launch();
  const std::shared_ptr<const void> graph = stream.finish();
  if (code != Status::ok || !graph) return kFailed;
  const auto replay = [&] { return stream.replay(graph.get()); };
  if (timed(stream, replay) >= kFailed) return kFailed;
  std::vector<double> times;
  double total = 0;
  const bool exact = budget.min_runs == budget.max_runs;   // the caller's number of them
  const auto min = static_cast<std::size_t>(exact ? budget.max_runs : 5), max = exact ? min : std::size_t{50};
  while (times.size() < min || (total < budget.min_ms * 0.5e6 && times.size() < max)) {
    times.push_back(timed(stream, replay));
    if (times.back() >= kFailed) return kFailed;
    total += times.back();
    if (budget.give_up_ns > 0 && times.back() > 2 * budget.give_up_ns * launches) break;
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / launches;
}

}  // namespace tenfold::backends::cuda
