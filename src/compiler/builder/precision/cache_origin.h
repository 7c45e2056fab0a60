// What a calibration cache came from, in a text file beside it (CACHE.from): TensorRT's form of a cache has no room for it.
#pragma once

#include "base/files/hash.h"
#include "builder/builder.h"

namespace tenfold::builder {

class CacheOrigin {
 public:
  // `source`: the model as it was read. Throws invalid_argument where the cache exists and came from another model, io where what lies
  // beside it cannot be read. A cache without such a file may be anybody's.
  CacheOrigin(const ir::Graph& source, const Calibration& calibration);
  // The same calibration; hashes of the samples that give ranges are kept.
  Calibration watched() const;
  // Writes it, if the calibration has just written its cache.
  void keep(const CalibrationReport& report) const;

 private:
  const Calibration& calibration_;
  Hash128 model_;                                  // of a calibration with a cache
  std::shared_ptr<std::map<int, Hash128>> data_;   // of samples, by their numbers
};

}  // namespace tenfold::builder
