// Results of `tenfold latency`, for people and as JSON.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "latency/latency.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  const char *key, *title;
  double percent;
};
constexpr Column kColumns[] = {
    {"p50", "p50", 50}, {"p95", "p95", 95}, {"p99", "p99", 99}, {"p99_9", "p99.9", 99.9}, {"p99_99", "p99.99", 99.99}};

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

void print_times(const char* title, const LatencyRecorder& r) {
  std::printf("  %-10s", title);
  for (const Column& c : kColumns) std::printf(" %10.2f", us(r.percentile(c.percent)));
  std::printf(" %10.2f\n", us(r.max()));
}

Json times(const LatencyRecorder& r) {
  Json json;
  for (const Column& c : kColumns) json[c.key] = us(r.percentile(c.percent));
  json["max"] = us(r.max()), json["mean"] = r.mean() / 1e3, json["count"] = r.count();
  return json;
}

double rate(const LatencyReport& r) { return r.load_seconds > 0 ? static_cast<double>(r.result.answered) / r.load_seconds : 0; }

Json json_of(const LatencyReport& r) {
  const OpenLoopResult& o = r.result;
  Json json = {{"name", r.name}, {"backend", r.backend}, {"rate_asked", r.rate}, {"rate", rate(r)}};
  json["response_us"] = times(o.response), json["service_us"] = times(o.service), json["hiccups_us"] = times(r.hiccups);
  json["asked"] = o.requests, json["answered"] = o.answered, json["asked_late"] = o.late_requests, json["dropped"] = o.dropped;
  json["failed"] = o.failed, json["not_finite"] = o.not_finite;
  json["late"] = r.has_deadline ? Json(o.late) : Json();   // null: there is no deadline
  json["page_faults"] = o.page_faults, json["forced_switches"] = o.forced_switches;
  if (r.slides) json["newest_row"] = {{"late_start", o.late_start}, {"full_recompute", o.full_recompute}};
  for (const Published& p : r.published) json["published_p99_us"][p.who] = p.p99_us;
  if (r.closed_loop > 0) json["closed_loop_rate"] = r.closed_loop;
  for (const CandidateState& candidate : r.candidates)
    json["candidates"].push_back({{"name", candidate.name},
                                  {"opened", candidate.opened},
                                  {"answers", candidate.answers},
                                  {"answered", candidate.answered},
                                  {"left", candidate.left},
                                  {"why", candidate.why}});
  return json;
}

}  // namespace

void print_latency(const LatencyReport& r) {
  const OpenLoopResult& o = r.result;
  std::printf("%s: candidate '%s', %.0f requests a second, %.1f answered\n", printable(r.name).c_str(), printable(r.backend).c_str(),
              r.rate, rate(r));
  std::printf("  %-10s", "us");
  for (const Column& c : kColumns) std::printf(" %10s", c.title);
  std::printf(" %10s\n", "max");
  print_times("response", o.response), print_times("service", o.service), print_times("hiccups", r.hiccups);
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("  requests %llu, answered %llu, overdue %llu, dropped %llu, failed %llu", number(o.requests), number(o.answered),
              number(o.late_requests), number(o.dropped), number(o.failed));
  if (r.has_deadline) std::printf(", late %llu", number(o.late));
  std::printf(", not finite %llu\n", number(o.not_finite));
  if (r.slides)
    std::printf(
        "  newest row: times count from its arrival; late start %llu (precompute() had not ended), whole windows %llu\n",
        number(o.late_start), number(o.full_recompute));
  if (!r.published.empty()) {
    std::printf("  p99 of this size, newest row: service %.2f here; published, on other machines and by other rules:",
                us(o.service.percentile(99)));
    for (const Published& p : r.published) std::printf("%s %.4g %s", &p == r.published.data() ? "" : ";", p.p99_us, p.who.c_str());
    std::printf("\n");
  }
  if (o.page_faults >= 0)
    std::printf("  page faults %lld, forced switches %lld\n", static_cast<long long>(o.page_faults),
                static_cast<long long>(o.forced_switches));
  if (r.closed_loop > 0) std::printf("  closed loop: %.0f a second\n", r.closed_loop);
  for (const CandidateState& candidate : r.candidates)
    if (!candidate.why.empty()) std::printf("  candidate '%s': %s\n", printable(candidate.name).c_str(), printable(candidate.why).c_str());
  std::fflush(stdout);
}

std::string latency_json(const std::vector<LatencyReport>& reports) {
  Json json = json_of(reports.front());
  if (reports.size() > 1) {
    json = Json::object();
    for (const LatencyReport& r : reports) json["runs"].push_back(json_of(r));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenfold::cli
