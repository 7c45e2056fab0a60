// Building cuDNN graphs: descriptors that destroy themselves, and execution plans of a convolution with what follows it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

// One descriptor. Setting or finishing may fail: then good() is false and stays so.
class DnnObject {
 public:
  DnnObject() = default;
  explicit DnnObject(int kind) noexcept { good_ = cudnn()->descriptor_create(kind, &descriptor_) == 0; }
  DnnObject(DnnObject&& other) noexcept { swap(other); }
  DnnObject& operator=(DnnObject&& other) noexcept { return swap(other), *this; }
  ~DnnObject() {
    if (descriptor_) cudnn()->descriptor_destroy(descriptor_);
  }
  void set(int attribute, int type, std::int64_t count, const void* values) noexcept {
    good_ = good_ && cudnn()->set(descriptor_, attribute, type, count, values) == 0;
  }
  void set(int attribute, std::int64_t value) noexcept { set(attribute, dnn::kInt64, 1, &value); }
  void set(int attribute, std::span<const std::int64_t> values) noexcept {
    set(attribute, dnn::kInt64, static_cast<std::int64_t>(values.size()), values.data());
  }
  void set(int attribute, const DnnObject& other) noexcept {
    good_ = good_ && other.good_;
    set(attribute, dnn::kDescriptor, 1, &other.descriptor_);
  }
  bool finish() noexcept { return good_ = good_ && cudnn()->finalize(descriptor_) == 0; }
  bool good() const { return good_; }
  DnnDescriptor get() const { return descriptor_; }

 private:
  void swap(DnnObject& other) noexcept { std::swap(descriptor_, other.descriptor_), std::swap(good_, other.good_); }
  DnnDescriptor descriptor_ = nullptr;
  bool good_ = false;
};

struct DnnTensor {
  std::int64_t id = 0;
  int type = 0;
  std::vector<std::int64_t> dims, strides;
  bool is_virtual = false;
};

struct DnnConvolution {
  DnnTensor x, w, y;
  std::vector<std::int64_t> strides, dilations, begin, end;
  bool has_bias = false, has_residual = false, relu = false;
  DnnTensor bias, residual;
  int precision = dnn::kF32;  // of the sums
  bool bias_first = false;    // add the bias before the residual: other engines of the library match then
};

struct DnnPlan {
  DnnObject plan;
  std::int64_t workspace = 0;
  bool good() const { return plan.good(); }
};
// A plan for the `rank`-th engine that a heuristic proposes, never null; an object that is not good if there is none, if it needs
// more workspace than allowed, or if it takes half a second to compile and is not the first such. `in_run`: nothing is compiled; where that
// engine would be, or is none, the next best takes its place. Equal ones are made once.
std::shared_ptr<const DnnPlan> plan_convolution(Device& device, const DnnConvolution& c, int heuristic, int rank,
                                                std::int64_t max_workspace, bool in_run);
Status::Code run_plan(Queue& queue, const DnnPlan& plan, std::span<const std::int64_t> ids, std::span<void* const> pointers,
                      void* workspace) noexcept;

}  // namespace tenfold::backends::cuda
