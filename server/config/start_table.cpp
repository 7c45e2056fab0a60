#include "config/start_table.h"

#include <algorithm>
#include <array>

namespace tenfold::server {

std::string start_table(const std::vector<StartRow>& rows) {
  constexpr std::size_t kColumns = 7;
  std::vector<std::array<std::string, kColumns>> cells = {{"model", "version", "state", "device", "precision", "batch", "reason"}};
  for (const StartRow& row : rows)
    cells.push_back({row.model, row.version, row.ready ? "ready" : "failed", row.device, row.precision, row.batch, row.reason});
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
