// serve_load: a load for a server of the v2 protocol that takes little time of the machine itself.
//
//   serve_load --port=8000 --requests=FILE [--grpc] [--clients=16] [--seconds=10] [--warmup=1]     closed loop
//   serve_load ... --rate=500                                                                      open loop, calls a second
//
// FILE holds requests as they go over the wire (requests.h); bench/serve_requests.py writes it. The result is JSON on stdout.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>

#include "load.h"
#include "tenfold/internal/processor_slice.h"

namespace tenfold::load {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') out += c;
  return out + '"';
}

void print(const char* name, const Histogram& h) {
  std::printf("\"%s\": {\"count\": %llu, \"mean_us\": %.1f, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f}, ",
              name, static_cast<unsigned long long>(h.count()), h.mean_us(), h.quantile_us(0.5), h.quantile_us(0.9), h.quantile_us(0.99),
              h.quantile_us(0.999));
}

void print(const Results& r) {
  std::printf("{");
  print("ok", r.ok), print("refused", r.refused), print("late", r.late);
  const std::pair<const char*, std::uint64_t> counts[] = {
      {"early", r.early},   {"refused_untimed", r.refused_untimed}, {"sent", r.sent},       {"wrong", r.wrong},
      {"failed", r.failed}, {"lost", r.lost},                       {"dropped", r.dropped}, {"unanswered", r.unanswered},
      {"connections", r.connections}};
  for (const auto& [name, value] : counts) std::printf("\"%s\": %llu, ", name, static_cast<unsigned long long>(value));
  std::printf("\"statuses\": {");
  const char* comma = "";
  for (const auto& [status, count] : r.statuses)
    std::printf("%s\"%d\": %llu", comma, status, static_cast<unsigned long long>(count)), comma = ", ";
  std::printf("}, \"first_wrong\": %s, \"first_failed\": %s, \"seconds\": %.3f, \"per_second\": %.1f}\n", quoted(r.first_wrong).c_str(),
              quoted(r.first_failed).c_str(), r.seconds, r.seconds > 0 ? static_cast<double>(r.ok.count()) / r.seconds : 0);
}

double parse(const std::string& flag, const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || number < 0) throw std::runtime_error(flag + " takes a number, not '" + value + "'");
  return number;
}

int run(int count, char** values) {
  LoadOptions options;
  std::string file;
  const auto number = [](auto& to) {
    return [&to](const std::string& flag, const std::string& value) { to = static_cast<std::decay_t<decltype(to)>>(parse(flag, value)); };
  };
  const std::map<std::string, std::function<void(const std::string&, const std::string&)>> flags = {
      {"--grpc", [&](auto&, auto&) { options.grpc = true; }},
      {"--shuffle", [&](auto&, auto&) { options.shuffle = true; }},
      {"--say-when-warm", [&](auto&, auto&) { options.say_when_warm = true; }},
      {"--retire", [&](auto&, auto&) { options.retire = true; }},
      {"--requests", [&](auto&, auto& value) { file = value; }},
      {"--host", [&](auto&, auto& value) { options.host = value; }},
      {"--port", number(options.port)},
      {"--clients", number(options.clients)},
      {"--rate", number(options.rate)},
      {"--seconds", number(options.seconds)},
      {"--warmup", number(options.warmup)},
      {"--count", number(options.count)},
      {"--drop", number(options.drop)},
      {"--drop-within-ms", number(options.drop_within_ms)},
      {"--seed", number(options.seed)},
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i], name = word.substr(0, word.find('='));
    const auto flag = flags.find(name);
    if (flag == flags.end()) throw std::runtime_error("unknown flag " + name + ": the head of serve_load.cpp and load.h list them");
    flag->second(name, word.size() > name.size() ? word.substr(name.size() + 1) : "");
  }
  if (file.empty() || options.port == 0 || options.clients < 1) throw std::runtime_error("--requests, --port and a client are needed");
  print(run_load(options, read_requests(file)));
  return 0;
}

}  // namespace
}  // namespace tenfold::load

int main(int count, char** values) {
  try {
    tenfold::set_processor_slice(0, tenfold::kShortSlice);   // what is measured is not how late this program is
    return tenfold::load::run(count, values);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serve_load: %s\n", error.what());
    return 2;
  }
}
