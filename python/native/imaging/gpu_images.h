// Images and results in the memory of the GPU that an engine is on, as torch, CuPy and DeviceArray have them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "native/arrays/arrays.h"
#include "tenfold/internal/device_work.h"
#include "tenfold/sliding_window.h"

namespace tenfold::python {

// Copies for sweeps that do not stay on the GPU.
class GpuCopies {
 public:
  explicit GpuCopies(const std::string& device) : work_(open_device_work(device)), stream_(work_->make_stream()) {}
  void copy(void* to, const void* from, std::int64_t bytes);   // waits

 private:
  std::unique_ptr<DeviceWork> work_;
  std::shared_ptr<void> stream_;
};

class GpuImages {
 public:
  // `view`: dense, of a GPU's array, whose elements are there.
  GpuImages(nb::object array, ArrayView view);
  const std::string& device() const { return device_; }   // "cuda:0"
  ImageSource& source() { return *source_; }
  std::shared_ptr<ImageSink> make_sink();   // an array of the images' kind; needs no lock
  nb::list arrays() const;

 private:
  nb::object array_;
  ArrayView view_;
  std::string device_;
  std::shared_ptr<GpuCopies> copies_;
  std::unique_ptr<ImageSource> source_;
  std::vector<std::shared_ptr<nb::object>> made_;
};

}  // namespace tenfold::python
