// Writing and reading build requests.
#include "background/build_request.h"

#include <unistd.h>

#include <cerrno>

#include "background/archive.h"
#include "base/system_error.h"
#include "builder/fields.h"
#include "runtime/plugins/plugins.h"

namespace tenfold::background {
namespace {

constexpr std::string_view kHead = "tenfold build request of ";

// Libraries of plug-ins travel by their names. What else has .no_request() is of the process that asks, and why_not_elsewhere() refuses
// what changes the plan.
template <class A>
void pass_config(A& a, BuildConfig& config) {
  builder::each_field_in<&builder::FieldForms::in_request>([&](auto field) { pass(a, field.of(config)); });
}

template <class A>
void pass_request(A& a, BuildRequest& r) {
  pass(a, r.requester), pass(a, r.key), pass(a, r.path), pass(a, r.library_places), pass(a, r.library_files),
      pass(a, r.plugin_libraries);
  pass_config(a, r.config);
}

}  // namespace

std::string why_not_elsewhere(const BuildConfig& config) {
  if (config.choose_tactic) return "choose_tactic() is a function of this process";
  if (config.calibration) return "its calibration's data comes from a function of this process";
  if (config.timings) return "its timing cache lies in the memory of this process";
  if (config.plugins && config.plugins->impl().of_this_process)
    return "it has plug-ins of this process, which no library gave";
  return "";
}

std::string head_of(BuildRequest request) {
  Writer writer;
  pass_request(writer, request);
  return cat(kHead, TENFOLD_VERSION, "\n") + writer.text();
}

BuildRequest read_request(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find('\n');
  check(text.starts_with(kHead) && end != std::string_view::npos, "what was given is no build request");
  const std::string_view of = text.substr(kHead.size(), end - kHead.size());
  check(of == TENFOLD_VERSION, "the build request comes from version ", of, ", this program is version ",
        TENFOLD_VERSION);
  Reader reader(bytes.subspan(end + 1));
  BuildRequest request;
  pass_request(reader, request);
  request.model = reader.rest();
  return request;
}

std::string answer(char what, int number, std::string_view text) {
  std::string line = {kMark, what, static_cast<char>('0' + number)};
  for (const char c : text) line += c == '\n' ? '\v' : c;
  return line + "\n";
}

void write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    require_system(n > 0, ErrorKind::io, "cannot write to the other process of a build");
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace tenfold::background
