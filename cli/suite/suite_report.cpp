#include "suite/suite_report.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>

#include "console.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr SuiteWay kWays[] = {SuiteWay::reference, SuiteWay::optimized, SuiteWay::loaded};
constexpr SuiteVerdict kVerdicts[] = {SuiteVerdict::passed, SuiteVerdict::failed, SuiteVerdict::refused};

std::string one_line(std::string text, std::size_t longest) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text.size() > longest ? text.substr(0, longest) + " ..." : text);
}

struct Counts {
  int passed = 0, failed = 0, refused = 0;
  void add(SuiteVerdict verdict) { ++(verdict == SuiteVerdict::passed ? passed : verdict == SuiteVerdict::failed ? failed : refused); }
};

Counts count(const std::vector<CaseReport>& cases) {
  Counts counts;
  for (const CaseReport& c : cases) counts.add(c.verdict());
  return counts;
}

void print_ways(const std::vector<CaseReport>& cases, const std::vector<SuiteWay>& ways) {
  for (const SuiteWay way : ways) {
    Counts counts;
    for (const CaseReport& c : cases)
      for (const SuiteFinding& f : c.result.ways)
        if (f.way == way) counts.add(f.verdict);
    std::printf("  %-10s %5d passed, %d failed, %d refused\n", name(way), counts.passed, counts.failed, counts.refused);
  }
  const auto built = [](const CaseReport& c) { return c.result.steps > 0; };
  const auto whole = [](const CaseReport& c) { return c.result.steps > 0 && c.result.reference_steps == 0; };
  const auto plans = std::count_if(cases.begin(), cases.end(), built);
  if (plans > 0)
    std::printf("  plans      %5td without a reference kernel, of %td that have steps\n",
                std::count_if(cases.begin(), cases.end(), whole), plans);
}

// Reasons, the most frequent first, each with the cases that it concerns.
void print_reasons(const std::vector<CaseReport>& cases, SuiteVerdict verdict) {
  constexpr std::size_t kNames = 3, kLongest = 220;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const CaseReport& c : cases)
    if (c.verdict() == verdict) by_reason[one_line(c.why(), kLongest)].push_back(c.name);
  if (by_reason.empty()) return;
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(by_reason.begin(), by_reason.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::printf("%s:\n", name(verdict));
  for (const auto& [why, names] : sorted) {
    std::printf("  %4zu  %s\n       ", names.size(), why.c_str());
    for (std::size_t i = 0; i < std::min(names.size(), kNames); ++i) std::printf(" %s", printable(names[i]).c_str());
    std::printf("%s\n", names.size() > kNames ? " ..." : "");
  }
}

}  // namespace

SuiteVerdict CaseReport::verdict() const {
  SuiteVerdict worst = died.empty() ? SuiteVerdict::passed : SuiteVerdict::failed;
  for (const SuiteFinding& f : result.ways)
    if (f.verdict != SuiteVerdict::passed && worst != SuiteVerdict::failed) worst = f.verdict;
  return worst;
}
bool CaseReport::wrong() const {
  return std::any_of(result.ways.begin(), result.ways.end(), [](const SuiteFinding& f) { return f.wrong; });
}
const std::string& CaseReport::why() const {
  const SuiteVerdict worst = verdict();
  for (const SuiteFinding& f : result.ways)
    if (f.verdict == worst && worst != SuiteVerdict::passed) return f.why;
  return died;
}

const char* name(SuiteWay way) { return (const char*[]){"reference", "optimized", "loaded"}[static_cast<int>(way)]; }
const char* name(SuiteVerdict verdict) { return (const char*[]){"passed", "failed", "refused"}[static_cast<int>(verdict)]; }

Json to_json(const SuiteResult& result) {
  Json json{{"steps", result.steps}, {"reference_steps", result.reference_steps}, {"ways", Json::object()}};
  for (const SuiteFinding& f : result.ways) {
    Json& way = json["ways"][name(f.way)] = {{"verdict", name(f.verdict)}};
    if (!f.why.empty()) way["why"] = f.why, way["wrong"] = f.wrong;
  }
  return json;
}
SuiteResult result_from(const Json& json) {
  SuiteResult result{.ways = {}, .steps = json.at("steps"), .reference_steps = json.at("reference_steps")};
  for (const auto& [way_name, found] : json.at("ways").items()) {
    const auto way = *std::find_if(std::begin(kWays), std::end(kWays), [&, &n = way_name](SuiteWay w) { return n == name(w); });
    const std::string verdict = found.at("verdict");
    result.ways.push_back(
        {way, *std::find_if(std::begin(kVerdicts), std::end(kVerdicts), [&](SuiteVerdict v) { return verdict == name(v); }),
         found.value("why", ""), found.value("wrong", false)});
  }
  return result;
}

void print_suite(const std::vector<CaseReport>& cases, const std::vector<SuiteWay>& ways, const std::set<std::string>& expected,
                 const std::string& device, double seconds) {
  const Counts counts = count(cases);
  print_reasons(cases, SuiteVerdict::refused);
  print_reasons(cases, SuiteVerdict::failed);
  std::printf("%d passed, %d failed, %d refused of %zu cases on %s in %.1f s\n", counts.passed, counts.failed, counts.refused, cases.size(),
              device.c_str(), seconds);
  print_ways(cases, ways);
  if (expected.empty()) return;
  int unlisted = 0;
  for (const CaseReport& c : cases) {
    const bool listed = expected.count(c.name) > 0, passed = c.verdict() == SuiteVerdict::passed;
    unlisted += !passed && !listed;
    if (passed && listed) std::printf("  %s passes: take it off the list\n", printable(c.name).c_str());
    if (!passed && !listed) std::printf("  %s does not pass, and is not on the list\n", printable(c.name).c_str());
  }
  if (unlisted == 0) std::printf("  every case that does not pass is on the list\n");
}

Json suite_json(const std::vector<CaseReport>& cases, const std::string& device, double seconds) {
  const Counts counts = count(cases);
  Json json{{"device", device},       {"seconds", seconds},         {"passed", counts.passed},
            {"failed", counts.failed}, {"refused", counts.refused}, {"cases", Json::array()}};
  for (const CaseReport& c : cases) {
    Json one{{"name", c.name}, {"verdict", name(c.verdict())}, {"seconds", c.seconds}};
    if (c.verdict() != SuiteVerdict::passed) one["why"] = c.why();
    if (c.died.empty()) one.update(to_json(c.result));
    else one["died"] = c.died;
    json["cases"].push_back(std::move(one));
  }
  return json;
}

void print_list(const std::vector<CaseReport>& cases) {
  for (const CaseReport& c : cases)
    if (c.verdict() != SuiteVerdict::passed) std::printf("%s  # %s\n", printable(c.name).c_str(), one_line(c.why(), 100).c_str());
}

}  // namespace tenfold::cli
