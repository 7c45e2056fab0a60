// What lies in a version's folder, and how it is opened.
#pragma once

#include <string>

#include "tenfold/serving/served_encoder.h"

namespace tenfold::triton {

// The configured file or folder, else the folder itself if it has an encoder, else model.onnx or model.plan. Throws io.
std::string model_path(const std::string& folder, const std::string& configured);
// The same options for an encoder's folder. Throws invalid_argument for those that encoders do not have.
ServedEncoderOptions encoder_options(const ServedModelOptions& options);
// Throws what open_served_model() and open_served_encoder() throw, and invalid_argument for options that encoders do
// not have.
std::shared_ptr<ServedModel> open_model(const std::string& path, ServedModelOptions options);

}  // namespace tenfold::triton
