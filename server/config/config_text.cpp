#include "config/config_text.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{16} << 20;
constexpr int kMaxDepth = 64;                    // of braces; Triton's messages need 6

// The first error, with line and column from 1.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text.empty()) text = std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": " + message;
  }
  std::string text;
};

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw Error(ErrorKind::invalid_argument, "failed to read text proto from " + where + ": " + why);
}

}  // namespace

inference::ModelConfig parse_config(const std::string& text, const std::string& where) {
  if (!simdjson::validate_utf8(text)) refuse(where, "it is not UTF-8");
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  inference::ModelConfig config;
  if (!parser.ParseFromString(text, &config)) refuse(where, "Error parsing text-format inference.ModelConfig: " + error.text);
  return config;
}

inference::ModelConfig read_config(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  if (failed) refuse(path, failed.message());
  if (bytes > kMaxBytes) refuse(path, "it has " + std::to_string(bytes) + " bytes, and 16 MiB at most are read");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "it cannot be opened");
  return parse_config(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

inference::ModelConfig parse_config_json(const std::string& json) {
  inference::ModelConfig config;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &config);
  if (!status.ok())
    throw Error(ErrorKind::invalid_argument, "parameter 'config' is no JSON of a model's configuration: " + std::string(status.message()));
  return config;
}

std::string config_text(const inference::ModelConfig& config) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(config, &text);
  return text;
}

}  // namespace tenfold::server
