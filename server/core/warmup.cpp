#include "core/warmup.h"

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

// Its outputs are dropped.
class Sample final : public ServedRequest {
 public:
  explicit Sample(const Warmup& warmup) : pieces_(warmup.inputs.size()) {
    for (std::size_t i = 0; i < warmup.inputs.size(); ++i) {
      const Warmup::Input& input = warmup.inputs[i];
      pieces_[i] = input.bytes;
      const bool strings = input.dtype == DType::string;
      inputs_.push_back({input.name, input.dtype, input.shape, {&pieces_[i], strings ? 0u : 1u}, strings ? &input.strings : nullptr});
    }
  }
  std::span<const RequestInput> inputs() const override { return inputs_; }
  void* output_memory(int, std::span<const std::int64_t>, std::int64_t bytes) override {
    outputs_.push_back(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
    return outputs_.back().get();
  }
  void take_strings(int, std::span<const std::int64_t>, std::span<const std::string>) override {}
  void finish(const RequestOutcome& outcome) noexcept override {
    if (outcome.error) error = *outcome.error;
  }

  std::optional<Error> error;

 private:
  std::vector<std::span<const std::byte>> pieces_;
  std::vector<RequestInput> inputs_;
  std::vector<std::unique_ptr<std::byte[]>> outputs_;
};

}  // namespace

void warm_up(ServedInstance& instance, const Warmup& warmup, std::span<const BindingInfo> bindings) {
  for (const Warmup::Input& input : warmup.inputs) {
    bool known = false;
    for (const BindingInfo& b : bindings) known = known || (b.is_input && b.name == input.name);
    if (!known)
      throw Error(ErrorKind::invalid_argument, "model_warmup '" + warmup.name + "': the model has no input '" + input.name + "'");
  }
  for (int i = 0; i < warmup.count; ++i) {
    Sample sample(warmup);
    ServedRequest* const request = &sample;
    instance.run({&request, 1});
    if (sample.error)
      throw Error(sample.error->kind(), "failed to run warmup sample '" + warmup.name + "': " + sample.error->what());
  }
}

}  // namespace tenfold::server
