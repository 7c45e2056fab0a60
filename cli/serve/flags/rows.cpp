#include "serve/flags/rows.h"

#include <algorithm>

namespace tenfold::cli {

void add_number(Flags& flags, const std::string& name, int& target, int min, int max, const std::string& help) {
  flags.add({name, "N", help, [&target, name, min, max](const std::string& text) { target = parse_int(name, text, min, max); }});
}

void add_choice(Flags& flags, const std::string& name, std::string& target, const std::vector<std::string>& choices,
                const std::string& help) {
  std::string shown;
  for (const std::string& choice : choices) shown += (shown.empty() ? "" : "|") + choice;
  flags.add({name, shown, help, [&target, name, choices, shown](const std::string& text) {
               if (std::find(choices.begin(), choices.end(), text) == choices.end())
                 throw UsageError("--" + name + " takes " + shown + ", not '" + text + "'");
               target = text;
             }});
}

void add_bool(Flags& flags, const std::string& name, bool& target, const std::string& help) {
  flags.add({name, "true|false", help, [&target, name](const std::string& text) {
               if (text != "true" && text != "false" && text != "1" && text != "0")
                 throw UsageError("--" + name + " takes true or false, not '" + text + "'");
               target = text == "true" || text == "1";
             }});
}

void add_listener(Flags& flags, const std::string& name, const std::string& what, const Listener& target, const std::string& address_help,
                  const std::string& port_help) {
  add_bool(flags, "allow-" + name, target.enabled, "whether the port of " + what + " is opened (true)");
  flags.add_text(name + "-address", target.address, "ADDRESS", address_help);
  add_number(flags, name + "-port", target.port, 0, kMaxPort, port_help);
}

}  // namespace tenfold::cli
