// The model: what a folder has, and an encoder for each device.
#include <filesystem>

#include "served_encoder/impl.h"
#include "tenfold/device.h"
#include "tenfold/internal/as_error.h"

namespace tenfold {

using namespace served_encoder;

namespace served_encoder {
namespace {

BindingInfo binding(const std::string& name, DType dtype, Shape shape, bool is_input, bool has_default = false) {
  std::vector<std::string> names(shape.size());
  names[0] = "texts";
  return {name, dtype, std::move(shape), std::move(names), is_input, has_default};
}

std::vector<BindingInfo> bindings_of(const EncoderInfo& info) {
  if (info.labels == 0)
    return {binding("text", DType::string, {-1}, true), binding("embedding", DType::f32, {-1, info.width}, false)};
  return {binding("text", DType::string, {-1}, true), binding("text_pair", DType::string, {-1}, true, true),
          binding("scores", DType::f32, {-1, info.labels}, false)};
}

}  // namespace

EncoderModel::EncoderModel(const std::string& folder, ServedEncoderOptions options) : folder_(folder), options_(std::move(options)) {
  first_ = load(options_.encoder.build.device);
  const EncoderInfo& info = first_->info();
  if (info.score_function == ScoreFunction::by_folder) first_->prepare();   // throws: it is one that nobody knows
  bindings_ = bindings_of(info);
  const auto by_default = info.prompts.find(info.default_prompt);
  prompt_ = options_.prompt ? *options_.prompt : by_default != info.prompts.end() ? by_default->second : "";
}

std::shared_ptr<const Encoder> EncoderModel::load(const std::string& device) const {
  EncoderOptions options = options_.encoder;
  options.build.device = device;
  if (!options.packed) options.packed = true;   // requests that meet have several lengths: each would read all weights again
  return std::make_shared<const Encoder>(Encoder::load(folder_, std::move(options)));
}

// Heads give what leaves them, so that one engine serves requests with and without the folder's function.
std::shared_ptr<const Encoder> EncoderModel::encoder_on(const std::string& device) {
  const std::lock_guard lock(mutex_);
  auto& encoder = encoders_[device];
  if (encoder) return encoder;
  auto made = device == options_.encoder.build.device ? first_ : load(device);
  made->prepare(ScoreFunction::none);
  return encoder = std::move(made);
}

std::unique_ptr<ServedInstance> EncoderModel::create_instance(const std::string& device) {
  return as_error([&]() -> std::unique_ptr<ServedInstance> {
    try {
      return make_instance(shared_from_this(), encoder_on(device), device);
    } catch (const Error& error) {
      if (!options_.fallback || !is_gpu(device)) throw;
      if (options_.encoder.build.log)
        options_.encoder.build.log(Severity::warning,
                                   "device " + device + " cannot be used, so the instance runs on the CPU: " + error.what());
      return make_instance(shared_from_this(), encoder_on("cpu"), "cpu");
    }
  });
}

}  // namespace served_encoder

bool is_encoder_folder(const std::string& folder) {
  const std::filesystem::path path = folder;
  const auto has = [&](const char* name) { return std::filesystem::exists(path / name); };
  return has("config.json") && (has("tokenizer.json") || has("tokenizer_config.json") || has("vocab.txt") || has("spiece.model"));
}

std::int64_t TextWork::tokens() const {
  std::size_t all = 0;
  for (const TokenizedText& text : texts) all += text.ids.size();
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(all));
}

std::shared_ptr<ServedEncoder> open_served_encoder(const std::string& folder, ServedEncoderOptions options) {
  return as_error([&] { return std::make_shared<EncoderModel>(folder, std::move(options)); });
}

}  // namespace tenfold
