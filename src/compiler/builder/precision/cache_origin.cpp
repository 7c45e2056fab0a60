// Lines "model HASH", "data HASH", "method NAME", "samples N" behind a head. Other lines are a later version's, and left alone.
#include "builder/precision/cache_origin.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/check.h"
#include "base/files/file.h"
#include "base/threads/spread.h"

namespace tenfold::builder {
namespace {

constexpr std::string_view kHead = "tenfold calibration 1";
constexpr std::int64_t kMin = 16;   // elements of a weight that tells models apart; smaller constants come and go with shapes

std::string file_beside(const std::string& cache) { return cache + ".from"; }

std::string text_of(const Hash128& hash) {
  std::ostringstream out;
  out << std::hex << hash.high << '.' << hash.low;
  return out.str();
}

Hash128 hash_of(const Tensor& t) {
  if (t.dtype() == DType::string) return {};
  return hash128({static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes())});
}

// Of all weights, in no order: it is the same whatever the build was asked for.
Hash128 hash_of(const ir::Graph& source) {
  std::vector<const Tensor*> weights;
  for (const auto& value : source.values())
    if (value->is_constant() && value->constant->tensor.size() >= kMin) weights.push_back(&value->constant->tensor);
  std::vector<Hash128> hashes(weights.size());
  std::int64_t bytes = 0;
  for (const Tensor* t : weights) bytes += t->bytes();
  spread(static_cast<std::int64_t>(weights.size()), bytes,
         [&](std::int64_t i) { hashes[static_cast<std::size_t>(i)] = hash_of(*weights[static_cast<std::size_t>(i)]); });
  std::sort(hashes.begin(), hashes.end());
  std::string text;
  for (const Hash128& hash : hashes) text += text_of(hash) + "\n";
  return hash128(text);
}

std::string model_in(const std::string& path) {
  std::istringstream in(read_file(path));
  std::string line;
  std::getline(in, line);
  require(line == kHead, ErrorKind::io, "'", path,
          "', which tells what a calibration cache came from, begins with '", line.substr(0, 60), "', not with '", kHead,
          "'; without it the cache is taken as it is");
  while (std::getline(in, line))
    if (line.starts_with("model ")) return line.substr(6);
  fail(ErrorKind::io,
       cat("'", path, "', which tells what a calibration cache came from, names no model; without it the cache is taken as it is"));
}

}  // namespace

CacheOrigin::CacheOrigin(const ir::Graph& source, const Calibration& calibration)
    : calibration_(calibration), data_(std::make_shared<std::map<int, Hash128>>()) {
  const std::string& cache = calibration.cache;
  if (cache.empty()) return;
  model_ = hash_of(source);
  std::error_code cannot_look;
  if (!std::filesystem::exists(cache, cannot_look) || !std::filesystem::exists(file_beside(cache), cannot_look)) return;
  require(model_in(file_beside(cache)) == text_of(model_), ErrorKind::invalid_argument, "the calibration cache '", cache,
          "' is another model's: its weights are not those that '", file_beside(cache),
          "' tells of. Name another cache, which is then written, or "
          "remove both files");
}

Calibration CacheOrigin::watched() const {
  Calibration watched = calibration_;
  if (watched.cache.empty() || !watched.sample) return watched;
  watched.sample = [sample = calibration_.sample, data = data_](int index) {
    std::optional<InputSet> one = sample(index);
    if (one && index % 2 == 0 && !data->count(index)) {
      std::string text;
      for (const auto& [input, tensor] : *one) text += cat(input, " ", name(tensor.dtype()), "[", text_of(hash_of(tensor)), "]\n");
      (*data)[index] = hash128(text);
    }
    return one;
  };
  return watched;
}

void CacheOrigin::keep(const CalibrationReport& report) const {
  if (calibration_.cache.empty() || report.samples == 0) return;
  std::string samples;
  for (const auto& [index, hash] : *data_) samples += text_of(hash) + "\n";
  AtomicFile file(file_beside(calibration_.cache));
  file.write(cat(kHead, "\nmodel ", text_of(model_), "\ndata ", text_of(hash128(samples)), "\nmethod ", report.method, "\nsamples ",
                 report.samples, "\n"));
  file.commit();
}

}  // namespace tenfold::builder
