// Where the values of flags come from: the command line, else TENFOLD_<FLAG>, else a line of --config=FILE, else the default.
#pragma once

#include <string>
#include <vector>

#include "flags/flags.h"

namespace tenfold::cli {

struct FlagSetting {
  const Flag* flag = nullptr;
  std::string value, source;                     // "--http-port", "TENFOLD_HTTP_PORT", "FILE:3"
};
// In the order in which they are to be applied. `words` receives those that are no flags. Throws UsageError.
std::vector<FlagSetting> read_settings(const Flags& flags, const std::vector<std::string>& arguments, std::vector<std::string>& words);
// Applies them; an error names the source.
void apply(const std::vector<FlagSetting>& settings);
// All flags as a file for --config: those that are set with their source, the others as comments with what their help says.
std::string settings_text(const Flags& flags, const std::vector<FlagSetting>& settings);

}  // namespace tenfold::cli
