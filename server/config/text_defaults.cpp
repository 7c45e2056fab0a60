#include "config/text_defaults.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tenfold/device.h"
#include "tenfold/error.h"
#include "triton_backend/open_model.h"

namespace tenfold::server {
namespace {

void set_prompt(ServedEncoderOptions& served, const EncoderInfo& info, const TextDefaults& defaults, const std::string& path) {
  if (!defaults.prompt.empty()) served.prompt = defaults.prompt;
  if (defaults.prompt_name.empty()) return;
  if (served.prompt)
    throw Error(ErrorKind::invalid_argument, "--default-prompt and --default-prompt-name are both given: one is enough");
  const auto found = info.prompts.find(defaults.prompt_name);
  if (found == info.prompts.end())
    throw Error(ErrorKind::invalid_argument,
                "--default-prompt-name is '" + defaults.prompt_name + "', which is none of the prompts of " + path);
  served.prompt = found->second;
}

// As many as `tenfold embed` takes. What never ends is not read.
std::vector<std::string> calibration_texts(const std::string& path) {
  constexpr std::size_t kTexts = 200;
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (there && (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > kMaxBytes))
    throw Error(ErrorKind::invalid_argument, "--calibration-texts: '" + path + "' is no file of at most 64 MiB; " + std::to_string(kTexts) +
                                                 " texts are enough, one a line");
  std::ifstream file(path);
  std::vector<std::string> texts;
  for (std::string line; texts.size() < kTexts && std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) texts.push_back(line);
  }
  if (texts.empty()) throw Error(ErrorKind::io, "--calibration-texts: '" + path + "' has no text that can be read; expected one a line");
  return texts;
}

}  // namespace

TextDefaults text_defaults(const cli::ServeOptions& options) {
  TextDefaults text;
  text.batch_tokens = options.text.batch_tokens;
  text.any_batch = options.model.max_batch < 0;
  const std::string& dtype = options.text.dtype;
  if (!options.model.precision.empty()) text.precision = parse_encoder_precision(options.model.precision);
  if (dtype == "float16") text.precision = EncoderPrecision::fp16;
  if (dtype == "bfloat16") text.precision = EncoderPrecision::bf16;
  text.prompt = options.text.prompt, text.prompt_name = options.text.prompt_name;
  text.calibration = options.text.calibration;
  if (!text.calibration.empty() && text.precision != EncoderPrecision::int8)
    throw Error(ErrorKind::invalid_argument, "--calibration-texts is for --precision=int8: remove it, or add that");
  return text;
}

TextOptions text_options(const cli::ServeOptions& options) {
  TextOptions text;
  if (options.text.max_texts > 0) text.max_texts = static_cast<std::size_t>(options.text.max_texts);
  text.tokenizers = options.text.tokenizers;
  text.truncate = options.text.truncate;
  text.allow_token_input = options.text.token_input, text.allow_dimensions = options.text.dimensions;
  text.any_model_name = !options.text.model_id.empty();
  return text;
}

// The queue's budget is the one that runs of the engine have, so that what a batch holds is computed at once.
void set_encoder(ModelOptions& model, const TextDefaults& defaults) {
  ServedEncoderOptions served = triton::encoder_options(model.served);
  const std::string device = model.instances.empty() ? "cpu" : model.instances.front().device;
  served.encoder.build.device = device;
  if (defaults.precision != EncoderPrecision::by_build) served.encoder.precision = defaults.precision;
  if (!defaults.calibration.empty()) served.encoder.calibration_texts = calibration_texts(defaults.calibration);
  const EncoderInfo info = Encoder::load(model.path, served.encoder).info();
  std::int64_t& budget = model.queue.max_tokens;
  budget = defaults.batch_tokens;
  if (budget == 0) budget = std::max<std::int64_t>(is_gpu(device) ? 16384 : 2048, info.max_tokens);
  served.encoder.max_tokens = static_cast<int>(std::min<std::int64_t>(info.max_tokens, budget));
  served.encoder.batch_tokens = budget;
  set_prompt(served, info, defaults, model.path);
  model.queue.max_batch = model.served.max_batch;   // texts share batches, whatever the configuration says of others
  model.encoder = std::move(served);
}

}  // namespace tenfold::server
