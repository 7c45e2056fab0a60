#include "config/start_table.h"

#include <algorithm>
#include <array>

namespace tenfold::server {

StartRow row_of(const Model& model) {
  StartRow row;
  const ModelOptions& options = model.options();
  const BuildConfig& build = options.served.build;
  row.model = model.name(), row.version = model.version();
  row.precision = build.auto_precision ? "auto" : build.fp16 ? "fp16" : build.bf16 ? "bf16" : build.tf32 ? "tf32" : "fp32";
  if (options.encoder && options.encoder->encoder.precision == EncoderPrecision::int8) row.precision = "int8";
  for (const std::string& device : model.devices())
    if (row.device.find(device) == std::string::npos) row.device += (row.device.empty() ? "" : ",") + device;
  if (model.devices().size() > 1) row.device += " x " + std::to_string(model.devices().size());
  row.batch = std::to_string(model.max_batch());
  const bool is_plan = options.path.ends_with(".plan") || options.path.ends_with(".engine");
  row.plan = is_plan ? "given" : options.from_cache && *options.from_cache ? "cached" : "built";
  if (!model.not_batched().empty()) row.reason = "not batched: " + model.not_batched();
  row.ready = true;
  return row;
}

StartRow failed_row(const std::string& name, const std::string& why) {
  StartRow row;
  row.model = name, row.reason = why;
  row.version = row.device = row.precision = row.batch = row.plan = "-";
  return row;
}

std::string start_table(const std::vector<StartRow>& rows) {
  constexpr std::size_t kColumns = 8;
  std::vector<std::array<std::string, kColumns>> cells = {{"model", "version", "state", "device", "precision", "batch", "plan", "reason"}};
  for (const StartRow& row : rows)
    cells.push_back({row.model, row.version, row.ready ? "ready" : "failed", row.device, row.precision, row.batch, row.plan, row.reason});
  std::array<std::size_t, kColumns> widths{};
  for (const auto& line : cells)
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string out;
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t i = 0; i < kColumns; ++i) text += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string shown_address(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

}  // namespace tenfold::server
