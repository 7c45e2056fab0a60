#include "core/wishes.h"

#include <algorithm>

namespace tenfold::server {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw RequestError(Code::invalid_argument, why); }

void put(const SharedRegion& region, const SharedPlace& place, InferOutput& output) {
  const std::string text = output.dtype == DType::string ? write_bytes_elements(output.strings) : std::string();
  const std::span<const std::byte> bytes = output.dtype == DType::string ? std::as_bytes(std::span(text))
                                                                          : std::span(output.bytes.data.get(), output.bytes.size);
  if (bytes.size() > place.bytes)
    refuse("output '" + output.name + "' has " + std::to_string(bytes.size()) + " bytes, but its place in shared memory region '" +
           region.name() + "' has " + std::to_string(place.bytes));
  region.write(place.offset, bytes);
  output.in_shared_memory = true, output.bytes = {}, output.strings.clear();
}

}  // namespace

void read_shared_inputs(const SharedMemory& memory, InferRequest& request) {
  for (InferInput& input : request.inputs) {
    if (!input.shared) continue;
    const std::shared_ptr<const SharedRegion> region = memory.find(input.shared->region);
    region->check(input.shared->offset, input.shared->bytes);
    const auto size = static_cast<std::size_t>(input.shared->bytes);
    const std::shared_ptr<std::byte[]> bytes = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
    region->read(input.shared->offset, {bytes.get(), size});
    input.pieces = {{bytes.get(), size}};
    if (input.dtype == DType::string) input.strings = read_bytes_elements(input.pieces, input.name), input.pieces.clear();
    else request.memory.push_back(bytes);
  }
}

Wishes::Wishes(const SharedMemory& memory, std::vector<OutputWish> wishes, const Labels& labels, bool batched)
    : wishes_(std::move(wishes)), regions_(wishes_.size()), labels_(&labels), batched_(batched) {
  for (std::size_t i = 0; i < wishes_.size(); ++i) {
    if (!wishes_[i].shared) continue;
    regions_[i] = memory.find(wishes_[i].shared->region);
    regions_[i]->check(wishes_[i].shared->offset, wishes_[i].shared->bytes);
  }
}

void Wishes::fulfil(std::vector<InferOutput>& outputs) const {
  static const std::vector<std::string> kNoLabels;
  for (std::size_t i = 0; i < wishes_.size() && i < outputs.size(); ++i) {
    if (wishes_[i].classes > 0) {
      const auto found = labels_->find(outputs[i].name);
      outputs[i] = classified(outputs[i], wishes_[i].classes, found == labels_->end() ? kNoLabels : found->second, batched_);
    }
    if (regions_[i]) put(*regions_[i], *wishes_[i].shared, outputs[i]);
  }
}

}  // namespace tenfold::server
