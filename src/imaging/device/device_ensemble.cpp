// As sweep/ensemble_predictor.cpp adds on CPUs: member by member, then divided.
#include "device/device_ensemble.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold::imaging {
namespace {

std::int64_t least_batch(const std::vector<std::unique_ptr<DevicePredictor>>& members) {
  std::int64_t batch = members.at(0)->batch();
  for (const std::unique_ptr<DevicePredictor>& one : members) batch = std::min(batch, one->batch());
  return batch;
}

}  // namespace

DeviceEnsemble::DeviceEnsemble(DeviceWork& work, std::vector<std::unique_ptr<DevicePredictor>> members)
    : work_(work), kernels_(work), members_(std::move(members)), batch_(least_batch(members_)) {
  require(members_.size() <= kMaxEngines, ErrorKind::unsupported, members_.size(),
          " engines answer: it has kernels for ", kMaxEngines);
  const std::vector<Output>& first = members_[0]->outputs();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const std::vector<Output>& own = members_[m]->outputs();
    require(own.size() == first.size(), ErrorKind::invalid_argument, "engine ", m, " of the ensemble gave ", own.size(),
            " outputs, engine 0 ", first.size(), ": expected the same");
    for (std::size_t o = 0; o < own.size(); ++o)
      require(own[o].window == first[o].window, ErrorKind::invalid_argument, "output ", o, " of engine ", m,
              " of the ensemble is [", text(own[o].window), "] for a window, that of engine 0 [", text(first[o].window),
              "]: expected the same");
  }
  for (const Output& one : first) {
    means_.push_back(work.allocate(byte_size(DType::f32, batch_ * element_count(one.window))));
    outputs_.push_back({means_.back().get(), DType::f32, one.window, one.strides});
  }
}

std::vector<DevicePredictor::Input> DeviceEnsemble::inputs() const {
  std::vector<Input> all;
  for (const std::unique_ptr<DevicePredictor>& one : members_)
    for (const Input& input : one->inputs()) all.push_back(input);
  return all;
}

void DeviceEnsemble::enqueue(void* stream) {
  for (const std::unique_ptr<DevicePredictor>& one : members_) one->enqueue(stream);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    MeanArgs args{};
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const Output& from = members_[m]->outputs()[o];
      args.from[m] = from.memory, args.types[m] = window_type(from.dtype);
    }
    args.to = static_cast<float*>(means_[o].get()), args.engines = static_cast<int>(members_.size());
    args.elements = batch_ * element_count(outputs_[o].window);
    work_.launch(kernels_.mean.get(), {blocks_of(args.elements), 1, 1}, kThreads, &args, stream);
  }
}

void DeviceEnsemble::finish() {
  for (const std::unique_ptr<DevicePredictor>& one : members_) one->finish();
}

}  // namespace tenfold::imaging
