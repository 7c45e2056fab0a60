#include "config/model_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "core/datatype.h"
#include "tenfold/error.h"

namespace tenfold::server {
namespace {

using inference::ModelWarmup;
constexpr std::int64_t kMaxWarmupBytes = std::int64_t{1} << 30;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, why); }

std::string read_file(const std::string& path, const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::io, what + ": " + path + " cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Texts with their lengths in front, as requests have them.
std::vector<std::string> strings_of(const std::string& bytes, const std::string& what) {
  std::vector<std::string> strings;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint32_t length = 0;
    if (bytes.size() - at >= sizeof length) std::memcpy(&length, bytes.data() + at, sizeof length);
    if (bytes.size() - at < sizeof length || length > bytes.size() - at - sizeof length) refuse(what + " is cut off");
    strings.push_back(bytes.substr(at + sizeof length, length));
    at += sizeof length + length;
  }
  return strings;
}

// Numbers from 0 to 1 for f32, 0 and 1 for types of 8 bits, zeros for others: a random index beyond a table would fail the run.
std::vector<std::byte> random_bytes(DType dtype, std::int64_t bytes) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  std::mt19937 random(1);
  if (dtype == DType::f32) {
    std::uniform_real_distribution<float> values;
    for (std::size_t i = 0; i + sizeof(float) <= data.size(); i += sizeof(float)) {
      const float value = values(random);
      std::memcpy(data.data() + i, &value, sizeof value);
    }
  } else if (dtype == DType::boolean || dtype == DType::u8 || dtype == DType::i8) {
    for (std::byte& one : data) one = static_cast<std::byte>(random() & 1);
  }
  return data;
}

void fill(Warmup::Input& input, const ModelWarmup::Input& source, const std::string& folder, const std::string& what) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : input.shape)
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements) || elements > kMaxWarmupBytes)
      refuse(what + (extent < 0 ? " expects all variable-size dimensions are specified" : " is larger than 1 GiB"));
  const bool strings = input.dtype == DType::string;
  const std::int64_t bytes = strings ? 0 : byte_size(input.dtype, elements);
  if (source.input_data_type_case() == ModelWarmup::Input::kInputDataFile) {
    check_plain_path("model_warmup.inputs.input_data_file", source.input_data_file());
    const std::string data = read_file(folder + "/warmup/" + source.input_data_file(), what);
    if (strings) input.strings = strings_of(data, what + ": its file");
    if (strings && static_cast<std::int64_t>(input.strings.size()) != elements)
      refuse(what + ": its file has " + std::to_string(input.strings.size()) + " texts, expected " + std::to_string(elements));
    if (!strings && static_cast<std::int64_t>(data.size()) != bytes)
      refuse("warmup setting expects " + std::to_string(bytes) + " bytes, but " + what + " has a file of " + std::to_string(data.size()));
    if (!strings) input.bytes.resize(data.size()), std::memcpy(input.bytes.data(), data.data(), data.size());
  } else if (source.input_data_type_case() == ModelWarmup::Input::INPUT_DATA_TYPE_NOT_SET) {
    refuse(what + " must set zero_data, random_data or input_data_file");
  } else if (strings) {
    input.strings.assign(static_cast<std::size_t>(elements), "");
  } else {
    input.bytes.resize(static_cast<std::size_t>(bytes));
    if (source.random_data()) input.bytes = random_bytes(input.dtype, bytes);
  }
}

}  // namespace

void check_plain_path(const std::string& field, const std::string& path) {
  const std::filesystem::path parts = path;
  const bool leaves = std::find(parts.begin(), parts.end(), "..") != parts.end();
  if (parts.is_absolute() || leaves || path.find('\0') != std::string::npos)
    refuse("field '" + field + "' is '" + path + "', expected a path inside the model's folder");
}

std::map<std::string, std::vector<std::string>> read_labels(const inference::ModelConfig& config, const std::string& folder) {
  std::map<std::string, std::vector<std::string>> labels;
  for (const auto& output : config.output()) {
    if (output.label_filename().empty()) continue;
    check_plain_path("output.label_filename", output.label_filename());
    const std::string text = read_file(folder + "/" + output.label_filename(), "label_filename of output '" + output.name() + "'");
    std::vector<std::string>& lines = labels[output.name()];
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      lines.push_back(text.substr(from, end - from));
      if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
      from = end + 1;
    }
  }
  return labels;
}

std::vector<Warmup> read_warmups(const inference::ModelConfig& config, const std::string& folder) {
  std::vector<Warmup> warmups;
  for (const ModelWarmup& sample : config.model_warmup()) {
    Warmup warmup{sample.name(), static_cast<int>(std::clamp<std::uint32_t>(sample.count(), 1, 10'000)), {}};
    if (sample.batch_size() > static_cast<std::uint32_t>(std::max(config.max_batch_size(), 1)))
      refuse("model_warmup '" + sample.name() + "' has batch_size " + std::to_string(sample.batch_size()) + ", expected " +
             std::to_string(config.max_batch_size()) + " at most");
    for (const auto& [name, source] : sample.inputs()) {
      const std::string type = inference::DataType_Name(source.data_type());
      Warmup::Input input{name, DType::f32, {source.dims().begin(), source.dims().end()}, {}, {}};
      const std::optional<DType> dtype = dtype_of_v2(source.data_type() == inference::TYPE_STRING ? "BYTES" : type.substr(5));
      if (!dtype) refuse("model_warmup '" + sample.name() + "': input '" + name + "' must specify 'data_type'");
      input.dtype = *dtype;
      if (config.max_batch_size() > 0) input.shape.insert(input.shape.begin(), std::max<std::int64_t>(sample.batch_size(), 1));
      fill(input, source, folder, "model_warmup '" + sample.name() + "', input '" + name + "',");
      warmup.inputs.push_back(std::move(input));
    }
    if (!sample.inputs().empty()) warmups.push_back(std::move(warmup));
  }
  return warmups;
}

}  // namespace tenfold::server
