// Texts of several requests become one call of an encoder, which all instances on a device share.
#include "tenfold/serving/served_encoder.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "tenfold/device.h"
#include "tenfold/internal/as_error.h"
#include "tenfold/serving/request_groups.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string_view>;

BindingInfo binding(const std::string& name, DType dtype, Shape shape, bool is_input) {
  std::vector<std::string> names(shape.size());
  names[0] = "texts";
  return {name, dtype, std::move(shape), std::move(names), is_input, false};
}

std::vector<BindingInfo> bindings_of(const EncoderInfo& info) {
  if (info.labels == 0)
    return {binding("text", DType::string, {-1}, true), binding("embedding", DType::f32, {-1, info.width}, false)};
  return {binding("text", DType::string, {-1}, true), binding("text_pair", DType::string, {-1}, true),
          binding("scores", DType::f32, {-1, info.labels}, false)};
}

class EncoderModel final : public ServedModel, public std::enable_shared_from_this<EncoderModel> {
 public:
  EncoderModel(const std::string& folder, ServedEncoderOptions options) : folder_(folder), options_(std::move(options)) {
    bindings_ = bindings_of(Encoder::load(folder_, options_.encoder).info());
  }
  const std::vector<BindingInfo>& bindings() const noexcept override { return bindings_; }
  const std::vector<std::string>& open_inputs() const noexcept override { return none_; }
  std::int64_t max_rows() const noexcept override { return 0; }
  std::unique_ptr<ServedInstance> create_instance(const std::string& device) override;
  std::int64_t max_batch() const { return options_.max_batch; }

 private:
  std::shared_ptr<const Encoder> encoder_on(const std::string& device) {
    const std::lock_guard lock(mutex_);
    auto& encoder = encoders_[device];
    if (encoder) return encoder;
    EncoderOptions options = options_.encoder;
    options.build.device = device;
    auto made = std::make_shared<const Encoder>(Encoder::load(folder_, std::move(options)));
    made->prepare();
    return encoder = std::move(made);
  }

  std::string folder_;
  ServedEncoderOptions options_;
  std::vector<BindingInfo> bindings_;
  std::vector<std::string> none_;
  std::mutex mutex_;                             // of what follows; held while engines are built
  std::map<std::string, std::shared_ptr<const Encoder>> encoders_;
};

Texts texts_of(const RequestGroup& group, std::size_t input) {
  Texts all;
  for (const CheckedRequest& request : group)
    all.insert(all.end(), request.inputs[input]->strings->begin(), request.inputs[input]->strings->end());
  return all;
}

class EncoderInstance final : public ServedInstance {
 public:
  EncoderInstance(std::shared_ptr<const EncoderModel> model, std::shared_ptr<const Encoder> encoder, std::string device)
      : model_(std::move(model)), encoder_(std::move(encoder)), device_(std::move(device)) {}
  const std::string& device() const noexcept override { return device_; }
  std::int64_t memory_bytes() const noexcept override { return 0; }
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept override {
    run_in_groups(requests, model_->bindings(), model_->max_batch(), [this](const RequestGroup& group) { return run_group(group); }, runs);
  }

 private:
  std::vector<float> compute(const RequestGroup& group) const {
    const Texts texts = texts_of(group, 0);
    if (group[0].inputs.size() == 1) return encoder_->encode(texts);
    const Texts seconds = texts_of(group, 1);
    if (texts.size() != seconds.size())
      throw Error(ErrorKind::invalid_argument, "input 'text' has " + std::to_string(texts.size()) + " texts, but 'text_pair' has " +
                                                   std::to_string(seconds.size()));
    std::vector<std::pair<std::string_view, std::string_view>> pairs(texts.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {texts[i], seconds[i]};
    return encoder_->score(pairs);
  }

  BatchRun run_group(const RequestGroup& group) const {
    BatchRun run;
    run.requests = static_cast<int>(group.size());
    run.start = run.compute_start = std::chrono::steady_clock::now();
    const std::vector<float> values = compute(group);
    run.compute_end = std::chrono::steady_clock::now();
    const int output = static_cast<int>(group[0].inputs.size());
    const std::int64_t width = model_->bindings().back().shape[1];
    std::vector<std::optional<Error>> failures(group.size());
    std::size_t done = 0;
    for (std::size_t r = 0; r < group.size(); ++r) {
      const auto count = static_cast<std::int64_t>(group[r].inputs[0]->strings->size());
      give(*group[r].request, output, {count, width}, std::span(values).subspan(done), failures[r]);
      done += static_cast<std::size_t>(count * width);
      run.rows += count;
    }
    if (model_->max_batch() == 0) run.rows = 1;
    run.end = std::chrono::steady_clock::now();
    for (std::size_t r = 0; r < group.size(); ++r) group[r].request->finish({failures[r] ? &*failures[r] : nullptr, &run});
    return run;
  }

  static void give(ServedRequest& request, int output, const Shape& shape, std::span<const float> values, std::optional<Error>& failure) {
    if (!request.requests_output(output)) return;
    try {
      const auto count = static_cast<std::size_t>(element_count(shape));
      auto* to = static_cast<float*>(request.output_memory(output, shape, byte_size(DType::f32, element_count(shape))));
      std::copy_n(values.begin(), count, to);
    } catch (const Error& error) {
      failure = error;
    }
  }

  std::shared_ptr<const EncoderModel> model_;
  std::shared_ptr<const Encoder> encoder_;
  std::string device_;
};

std::unique_ptr<ServedInstance> EncoderModel::create_instance(const std::string& device) {
  return as_error([&]() -> std::unique_ptr<ServedInstance> {
    try {
      return std::make_unique<EncoderInstance>(shared_from_this(), encoder_on(device), device);
    } catch (const Error& error) {
      if (!options_.fallback || !is_gpu(device)) throw;
      if (options_.encoder.build.log)
        options_.encoder.build.log(Severity::warning,
                                   "device " + device + " cannot be used, so the instance runs on the CPU: " + error.what());
      return std::make_unique<EncoderInstance>(shared_from_this(), encoder_on("cpu"), "cpu");
    }
  });
}

}  // namespace

bool is_encoder_folder(const std::string& folder) {
  const fs::path path = folder;
  const auto has = [&](const char* name) { return fs::exists(path / name); };
  return has("config.json") && (has("tokenizer.json") || has("tokenizer_config.json") || has("vocab.txt") || has("spiece.model"));
}

std::shared_ptr<ServedModel> open_served_encoder(const std::string& folder, ServedEncoderOptions options) {
  return as_error([&] { return std::make_shared<EncoderModel>(folder, std::move(options)); });
}

}  // namespace tenfold
