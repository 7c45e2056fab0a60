// Elementwise kernels: loaded once, launched with pointers and the numbers that only a run knows.
#include "backends/cuda/tactics/elements_common.h"

#include <array>

#include "base/checked.h"

namespace tenfold::backends::cuda {

constexpr std::size_t kMaxArguments = 96;

OpenElements::OpenElements(const ElementsProblem& p, const DeviceInfo& device, Opening& opening) : kernel_(generate_elements(p)) {
  require(kernel_.space.arguments().size() <= kMaxArguments, ErrorKind::unsupported, "a kernel with too many sizes that are not known");
  module_ = device_of(device).load(kernel_.source, opening);
  vectors_ = module_->function("vectors");
  singles_ = kernel_.width > 1 ? module_->function("singles") : vectors_;
  std::vector<const OperandDesc*> all = p.in;
  all.insert(all.end(), p.out.begin(), p.out.end());
  for (std::size_t o = 0; o < all.size(); ++o) {
    const bool by_vectors = !kernel_.space.axes().empty() && kernel_.space.axes().back().strides[o] == ir::Dim(1);
    vector_bytes_.push_back(by_vectors ? std::min(16, kernel_.width * bits(all[o]->dtype) / 8) : 1);
  }
}

Status::Code OpenElements::run(const Queue& queue, const std::int64_t* dims, std::span<const Bound* const> operands) const noexcept {
  std::int64_t count = 1;
  for (const IndexAxis& axis : kernel_.space.axes())
    for (int d : axis.source) count *= dims[d];
  if (count == 0) return Status::ok;
  // Laid out as ElementsArgumentsOf: inputs (at least one slot), outputs, numbers.
  std::array<std::uint64_t, kMaxElementsOperands + 1 + kMaxArguments> argument{};
  const std::size_t first_out = static_cast<std::size_t>(std::max(kernel_.inputs, 1));
  bool aligned = true;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const auto address = reinterpret_cast<std::uint64_t>(operands[o]->data);
    const auto inputs = static_cast<std::size_t>(kernel_.inputs);
    argument[o < inputs ? o : first_out + (o - inputs)] = address;
    aligned = aligned && address % static_cast<std::uint64_t>(vector_bytes_[o]) == 0;
  }
  std::array<std::int64_t, kMaxArguments> numbers{};
  kernel_.space.fill(dims, operands, numbers.data());
  std::copy(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(kernel_.space.arguments().size()),
            argument.begin() + static_cast<std::ptrdiff_t>(first_out) + kernel_.outputs);
  const std::int64_t threads = aligned ? count / kernel_.width : count;
  return launch(queue, aligned ? vectors_ : singles_, {static_cast<unsigned>(ceil_div(threads, kElementsThreads))}, kElementsThreads, 0,
                argument.data(), Start::early);
}

}  // namespace tenfold::backends::cuda
