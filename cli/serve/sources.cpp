#include "serve/sources.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "serve/variables.h"

namespace tenfold::cli {
namespace {

// What a file or the environment cannot set.
bool is_for_command_line(const Flag& flag) {
  return flag.name.size() == 1 || flag.name == "help" || flag.name == "config" || flag.name == "print-config" ||
         flag.name == "print-model-config" || flag.name == "probe";
}

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return from == std::string::npos ? "" : text.substr(from, end - from + 1);
}

const Flag* find(const Flags& flags, const std::string& name) {
  for (const Flags::Group& group : flags.groups())
    for (const Flag& flag : group.flags)
      if (flag.name == name) return &flag;
  return nullptr;
}

// A switch is set by true; false leaves it out.
void add(std::vector<FlagSetting>& settings, const Flag& flag, const std::string& value, const std::string& source) {
  if (flag.value.empty()) {
    if (value == "false" || value == "0") return;
    if (value != "true" && value != "1") throw UsageError(source + ": a switch takes true or false, not '" + value + "'");
  }
  settings.push_back({&flag, flag.value.empty() ? "" : value, source});
}

// "name=value" or "name: value", a line each; '#' begins a comment.
std::vector<FlagSetting> read_file(const Flags& flags, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("--config=" + path + ": the file cannot be read");
  std::vector<FlagSetting> settings;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string text = trimmed(line.substr(0, line.find('#')));
    if (text.empty()) continue;
    const std::string source = path + ":" + std::to_string(number);
    const std::size_t at = text.find_first_of("=:");
    if (at == std::string::npos) throw UsageError(source + ": expected name=value, not '" + text + "'");
    std::string name = trimmed(text.substr(0, at));
    name.erase(0, name.find_first_not_of('-'));
    const Flag* flag = find(flags, name);
    if (!flag) {
      std::vector<std::string> words;
      try {
        flags.read({"--" + name + "="}, words);  // it has the hint for a misspelt name, and the reasons of those that are refused
      } catch (const UsageError& error) {
        throw UsageError(source + ": " + error.what());
      }
    }
    if (is_for_command_line(*flag)) throw UsageError(source + ": --" + name + " is for the command line");
    add(settings, *flag, trimmed(text.substr(at + 1)), source);
  }
  return settings;
}

std::vector<FlagSetting> read_environment(const Flags& flags) {
  std::vector<FlagSetting> settings;
  for (const Flags::Group& group : flags.groups())
    for (const Flag& flag : group.flags)
      if (!is_for_command_line(flag))
        if (const char* value = std::getenv(variable_of(flag.name).c_str()); value && !is_service_link(value))
          add(settings, flag, value, variable_of(flag.name));
  return settings;
}

// --model-repository and --model-store are the same.
std::string key_of(const Flag& flag) { return flag.name == "model-store" ? "model-repository" : flag.name; }

void put_before(std::vector<FlagSetting>& settings, std::vector<FlagSetting> lower) {
  std::set<std::string> set;
  for (const FlagSetting& setting : settings) set.insert(key_of(*setting.flag));
  std::erase_if(lower, [&](const FlagSetting& setting) { return set.contains(key_of(*setting.flag)); });
  settings.insert(settings.begin(), lower.begin(), lower.end());
}

// A key is not shown, and not a line of a file either.
std::string setting_line(const Flag& flag, const FlagSetting& setting) {
  if (flag.name == "api-key") return "# api-key=  it is set by " + setting.source + "\n";
  return flag.name + "=" + (flag.value.empty() ? "true" : setting.value) + "  # by " + setting.source + "\n";
}

}  // namespace

std::vector<FlagSetting> read_settings(const Flags& flags, const std::vector<std::string>& arguments, std::vector<std::string>& words) {
  std::vector<FlagSetting> settings;
  std::string file;
  if (const char* named = std::getenv("TENFOLD_CONFIG")) file = named;
  for (const Flags::Given& given : flags.read(arguments, words)) {
    settings.push_back({given.flag, given.value, "--" + given.flag->name});
    if (given.flag->name == "config") file = given.value;
  }
  put_before(settings, read_environment(flags));
  if (!file.empty()) put_before(settings, read_file(flags, file));
  return settings;
}

void apply(const std::vector<FlagSetting>& settings) {
  for (const FlagSetting& setting : settings) {
    try {
      setting.flag->apply(setting.value);
    } catch (const UsageError& error) {
      if (setting.source.starts_with("--")) throw;
      throw UsageError(setting.source + ": " + error.what());
    }
  }
}

std::string settings_text(const Flags& flags, const std::vector<FlagSetting>& settings) {
  std::string text;
  for (const Flags::Group& group : flags.groups()) {
    std::string lines;
    for (const Flag& flag : group.flags) {
      if (is_for_command_line(flag)) continue;
      bool set = false;
      for (const FlagSetting& setting : settings)
        if (setting.flag == &flag) {
          set = true;
          lines += setting_line(flag, setting);
        }
      if (!set) lines += "# " + flag.name + "=  " + flag.words() + "\n";
    }
    if (!lines.empty()) text += (text.empty() ? "# " : "\n# ") + group.title + "\n" + lines;
  }
  return text;
}

}  // namespace tenfold::cli
