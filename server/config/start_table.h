// What the start ends with: a line for each model.
#pragma once

#include <string>
#include <vector>

namespace tenfold::server {

struct StartRow {
  std::string model, version, device, precision, batch, reason;
  bool ready = false;
};
std::string start_table(const std::vector<StartRow>& rows);
std::string shown_address(const std::string& address);   // as a URL has it

}  // namespace tenfold::server
