// Command-line flags as a table: parsing, help and the hint for a misspelt name come from the same rows.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenfold::cli {

// The command line cannot be understood. Ends in exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Flag {
  std::string name;   // without dashes
  std::string value;  // what the help calls it: "FILE". Empty: a switch. In brackets, "[N]": optional, then only as --name=N.
  std::string help;   // begins with '+': only in the full help, the short one lists the name
  std::function<void(const std::string&)> apply;
  std::string spelled() const;                                              // "--name=VALUE"
  std::string words() const { return help.substr(help.starts_with('+')); }  // the help as people read it
};

class Flags {
 public:
  Flags(std::string usage, std::string about) : usage_(std::move(usage)), about_(std::move(about)) {}
  // `full_only`: the short help leaves it out.
  void group(std::string title, bool full_only = false) { groups_.push_back({std::move(title), {}, full_only}); }
  void add(Flag flag) { groups_.back().flags.push_back(std::move(flag)); }
  void add_switch(const std::string& name, bool& target, const std::string& help);
  void add_text(const std::string& name, std::string& target, const std::string& value, const std::string& help);
  void add_int(const std::string& name, int& target, const std::string& help);
  void refuse(const std::string& name, const std::string& reason) { refused_[name] = reason; }
  void footer(std::string text) { footer_ = std::move(text); }

  // Applies the flags in order and returns the words that are not flags. "--name=value" and "--name value" are the same.
  std::vector<std::string> parse(const std::vector<std::string>& arguments) const;
  struct Given {
    const Flag* flag = nullptr;
    std::string value;
  };
  // The same, but applies none.
  std::vector<Given> read(const std::vector<std::string>& arguments, std::vector<std::string>& words) const;
  // A screen of the flags that matter; `full`: a line for every flag.
  std::string help(bool full = false) const;
  struct Group {
    std::string title;
    std::vector<Flag> flags;
    bool full_only = false;
  };
  const std::vector<Group>& groups() const { return groups_; }
  const std::string& usage() const { return usage_; }
  const std::string& about() const { return about_; }
  const std::string& footer() const { return footer_; }

 private:
  const Flag* find(const std::string& name) const;
  [[noreturn]] void unknown(const std::string& name, const std::string& spelled_as) const;

  std::string usage_, about_, footer_;
  std::vector<Group> groups_;
  std::map<std::string, std::string> refused_;
};

inline constexpr int kMaxThreads = 256;   // of a pool

int parse_int(const std::string& flag, const std::string& text, int min = std::numeric_limits<int>::min(),
              int largest = std::numeric_limits<int>::max());
double parse_number(const std::string& flag, const std::string& text, double min = std::numeric_limits<double>::lowest());

}  // namespace tenfold::cli
