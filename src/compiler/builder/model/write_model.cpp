#include "builder/model/write_model.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/files/file.h"
#include "onnx_import/external_data.h"
#include "tenfold/internal/as_error.h"
#include "tenfold/internal/model_arguments.h"
#include "tenfold/internal/write_model.h"

namespace tenfold {
namespace builder {
namespace {

constexpr std::size_t kLargestFile = (std::size_t{1} << 31) - 1;   // that other readers of protocol buffers take

void save(const std::string& path, const onnx_export::Rope& bytes) {
  AtomicFile file(path);
  for (const auto piece : bytes.pieces()) file.write(piece);
  file.commit();
}

}  // namespace

std::size_t write_model(onnx_export::Rope::Bytes model, const onnx_export::Edits& edits, onnx_import::ExternalData& external,
                        const std::string& output, bool aside) {
  const onnx_export::Rope whole = onnx_export::edit_model(model, edits, nullptr, &external);
  if (!aside && whole.size() <= kLargestFile) {
    save(output, whole);
    return whole.size();
  }
  onnx_export::DataFile data{.name = std::filesystem::path(output).filename().string() + ".data"};
  const onnx_export::Rope rest = onnx_export::edit_model(model, edits, &data, &external);
  if (data.bytes.size() > 0) save(output + ".data", data.bytes);
  save(output, rest);
  return rest.size() + data.bytes.size();
}

namespace {

void write_given(std::span<const std::byte> onnx, const std::string& path, const std::string& output, const BuildConfig& config) {
  const std::vector<std::string> known = model_arguments(onnx).initializers;
  onnx_export::Edits edits;
  for (const auto& [name, value] : config.initializers) {
    require(std::find(known.begin(), known.end(), name) != known.end(), ErrorKind::invalid_argument,
            "a value is given for the initializer '", name, "', which the model does not have");
    edits.left_out.insert(name), edits.initializers.emplace_back(name, value);
  }
  onnx_import::ExternalData external(path, {config.external_data_dirs.begin(), config.external_data_dirs.end()});
  write_model(onnx, edits, external, output, false);
}

}  // namespace
}  // namespace builder

void write_model(std::span<const std::byte> onnx, const std::string& output, const BuildConfig& config) {
  as_error([&] { builder::write_given(onnx, "", output, config); });
}

void write_model(const std::string& path, const std::string& output, const BuildConfig& config) {
  as_error([&] { builder::write_given(MappedFile::read(path)->bytes(), path, output, config); });
}

}  // namespace tenfold
