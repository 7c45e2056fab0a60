// tenfold ops: the operators that models may use, from the table that the importer itself reads.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "flags/flags.h"
#include "verbs.h"
#include "tenfold/build.h"

namespace tenfold::cli {
namespace {

void print_columns(const std::vector<OperatorInfo>& operators) {
  std::string domain, line;
  for (const OperatorInfo& o : operators) {
    if (o.domain != domain || line.size() > 96) {
      if (!line.empty()) std::printf("%s\n", line.c_str());
      line.clear();
    }
    if (o.domain != domain) std::printf("%s\n", o.domain.c_str()), domain = o.domain;
    std::string cell = "  " + o.name + " " + std::to_string(o.since);
    cell.resize(std::max<std::size_t>(cell.size(), (cell.size() / 34 + 1) * 34 - 2), ' ');
    line += cell;
  }
  if (!line.empty()) std::printf("%s\n", line.c_str());
  std::printf("%zu operators; the number is the first opset whose form is accepted\n", operators.size());
}

Flags make_flags(bool& json, bool& help) {
  Flags flags("tenfold ops [--json]",
              "Lists the supported operators of ONNX by domain, with the oldest supported opset.");
  flags.group("Flags");
  flags.add_switch("json", json, "as a JSON array of {domain, name, since, types, attributes}");
  flags.add_switch("help", help, "this text");
  return flags;
}

}  // namespace

void ops_flags(const UseFlags& use) {
  bool json = false, help = false;
  use(make_flags(json, help));
}

int ops_main(const Arguments& arguments) {
  bool json = false, help = false;
  const Flags flags = make_flags(json, help);
  if (const auto words = flags.parse(arguments); !words.empty()) throw UsageError("tenfold ops takes no '" + words.front() + "'");
  if (help) return std::fputs(flags.help().c_str(), stdout), kOk;
  const std::vector<OperatorInfo> operators = supported_operators();
  if (!json) return print_columns(operators), kOk;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const OperatorInfo& o : operators)
    list.push_back({{"domain", o.domain}, {"name", o.name}, {"since", o.since}, {"types", o.types}, {"attributes", o.attributes}});
  return std::printf("%s\n", list.dump(2).c_str()), kOk;
}

}  // namespace tenfold::cli
