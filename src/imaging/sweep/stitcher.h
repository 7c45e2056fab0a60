// Predictions of windows, in their order, to outputs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sweep/output.h"

namespace tenfold::imaging {

class Stitcher {
 public:
  Stitcher(const SlidingWindow& windows, OutputOptions options, const Part& part, MakeSink make_sink, int threads);
  // As WindowStitcher::add(), of the windows of the part.
  void add(std::span<const Tensor> outputs, const Tensor& weights);
  std::int64_t added() const { return next_; }
  void finish() const;

 private:
  Output make_output(std::size_t number, const Tensor& given);
  void check_batch(std::span<const Tensor> given) const;
  void add_to(std::size_t number, const Tensor& given, std::int64_t first, std::int64_t count);

  SlidingWindow windows_;
  const windows::WindowState& own_;
  OutputOptions options_;
  Part part_;
  windows::Grid grid_;                 // of the part
  std::int64_t per_image_, group_;     // windows of an image, and those of them that begin at one plane
  std::int64_t total_, next_ = 0;
  MakeSink make_sink_;
  int threads_;
  std::unique_ptr<Parallel> pool_;     // made with the outputs
  std::vector<Output> outputs_;
  std::vector<std::vector<float>> usual_weights_;
  std::vector<std::vector<float>> given_weights_;   // of the present add(), by output; empty: the usual ones
};

}  // namespace tenfold::imaging
