// The files that exec writes: times, profile and outputs in trtexec's JSON forms, outputs also as .npz.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "formats/arrays/npz.h"
#include "formats/files.h"
#include "measure/report.h"
#include "tenfold/error.h"
#include "tenfold/internal/file.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

void write_json(const std::string& path, const Json& json) {
  write_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");  // names from models may be no UTF-8
}

Json element(const Tensor& t, std::int64_t i) {
  if (t.dtype() == DType::string) return t.string_values()[static_cast<std::size_t>(i)];
  if (t.dtype() == DType::u64) return t.data<std::uint64_t>()[i];
  if (is_integer(t.dtype()) || t.dtype() == DType::boolean) return t.as_int(i);
  return t.as_double(i);  // JSON has no NaN or infinity: null
}

}  // namespace

void export_times(const std::string& path, const Trace& trace) {
  Json all = Json::array();
  for (const Sample& s : trace.samples) {
    const double ms = s.end_ms - s.start_ms, copied = s.start_ms + s.parts.host_to_device_ms, computed = copied + s.parts.compute_ms;
    all.push_back({{"startEnqMs", s.start_ms},
                   {"endEnqMs", s.start_ms + s.parts.enqueue_ms},
                   {"startH2dMs", s.start_ms},
                   {"endH2dMs", copied},
                   {"startComputeMs", copied},
                   {"endComputeMs", computed},
                   {"startD2hMs", computed},
                   {"endD2hMs", computed + s.parts.device_to_host_ms},
                   {"h2dMs", s.parts.host_to_device_ms},
                   {"computeMs", s.parts.compute_ms},
                   {"d2hMs", s.parts.device_to_host_ms},
                   {"latencyMs", ms}});
  }
  write_json(path, all);
}

void export_profile(const std::string& path, const std::vector<LayerTimes>& layers) {
  double total = 0;
  std::size_t count = 0;
  for (const LayerTimes& l : layers) total += std::accumulate(l.ms.begin(), l.ms.end(), 0.0), count = std::max(count, l.ms.size());
  Json all = Json::array({{{"count", count}}});
  for (const LayerTimes& l : layers) {
    const Statistics s = statistics(l.ms, {});
    const double sum = s.mean * static_cast<double>(l.ms.size());
    all.push_back({{"name", l.name},
                   {"timeMs", sum},
                   {"averageMs", s.mean},
                   {"medianMs", s.median},
                   {"percentage", total > 0 ? 100 * sum / total : 0},
                   {"medianStartMs", statistics(l.start_ms, {}).median},
                   {"nodes", l.nodes},
                   {"reference", l.reference}});
  }
  write_json(path, all);
}

void export_outputs(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& outputs) {
  const std::string end = formats::extension(path);
  if (end == ".npz") return write_file(path, formats::to_npz(outputs));
  if (end != ".json") throw Error(ErrorKind::invalid_argument, "--exportOutput writes .json or .npz, not '" + path + "'");
  Json all = Json::array();
  for (const auto& [name, tensor] : outputs) {
    Json values = Json::array();
    for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(element(tensor, i));
    all.push_back({{"name", name}, {"dimensions", text(tensor.shape())}, {"values", std::move(values)}});
  }
  write_json(path, all);
}

}  // namespace tenfold::cli
