// Model files, plans, and folders of encoders.
#include "open_model.h"

#include <filesystem>

namespace tenfold::triton {

namespace fs = std::filesystem;

ServedEncoderOptions encoder_options(const ServedModelOptions& options) {
  if (!options.build.profiles.empty())
    throw Error(ErrorKind::invalid_argument, "parameter 'tenfold.profiles' is not for encoders, which choose their profiles: remove it");
  if (options.build.pack_tokens != PackTokens::no)
    throw Error(ErrorKind::invalid_argument, "parameter 'tenfold.pack_tokens' is not for encoders, which never pad: remove it");
  if (options.tune == Tune::background)
    throw Error(ErrorKind::invalid_argument, "parameter 'tenfold.tune' is 'background', expected now or never for an encoder");
  ServedEncoderOptions encoder;
  const int level = encoder.encoder.build.optimization_level;
  encoder.encoder.build = options.build;
  encoder.encoder.build.optimization_level = options.tune == Tune::never ? 0 : level;
  encoder.encoder.cache.reset();
  if (options.cache) encoder.encoder.cache = PlanCacheOptions{.folder = options.cache->folder()};
  encoder.max_batch = options.max_batch, encoder.fallback = options.fallback;
  return encoder;
}

std::string model_path(const std::string& folder, const std::string& configured) {
  const fs::path path = folder;
  if (!configured.empty()) {
    if (!fs::exists(path / configured))
      throw Error(ErrorKind::io, "default_model_filename is '" + configured + "', but " + folder + " has no such file");
    return (path / configured).string();
  }
  if (is_encoder_folder(folder)) return folder;
  for (const char* name : {"model.onnx", "model.plan"})
    if (fs::exists(path / name)) return (path / name).string();
  throw Error(ErrorKind::io, folder + " has neither model.onnx nor model.plan, nor an encoder's config.json and tokenizer: put one there, "
                                      "or name it by default_model_filename");
}

std::shared_ptr<ServedModel> open_model(const std::string& path, ServedModelOptions options) {
  if (fs::is_directory(path)) return open_served_encoder(path, encoder_options(options));
  return open_served_model(path, std::move(options));
}

}  // namespace tenfold::triton
