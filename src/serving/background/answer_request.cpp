// The process that tunes: it reads the request, builds, and writes the plan where the asker can map it.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <mutex>

#include "backends/cuda/device/library.h"
#include "background/build_request.h"
#include "base/files/file.h"
#include "tenfold/device.h"
#include "tenfold/internal/build_request.h"
#include "tenfold/model_engines.h"
#include "tenfold/plan_cache.h"
#include "tenfold/plugin.h"

namespace tenfold {
namespace {

using namespace background;

// Where memory is short the kernel ends this process, and not the one that asked.
void end_first() {
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    [[maybe_unused]] const ssize_t n = ::write(file, "500", 3);   // where it is not allowed nothing is lost
    ::close(file);
  }
}

std::string first_difference(const std::string& ours, const std::string& theirs) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()) && ours[i] == theirs[i]; ++i)
    if (ours[i] == '\n') begin = i + 1;
  const auto line = [&](const std::string& text) {
    return begin < text.size() ? text.substr(begin, std::min<std::size_t>(text.find('\n', begin) - begin, 200))
                               : std::string("nothing");
  };
  return cat("'", line(ours), "' here, '", line(theirs), "' where it was asked for");
}

// The key holds all that a plan depends on: an equal one says that model, options, plug-ins, libraries and device are
// the asker's.
Engine build_requested(BuildRequest& request, const BuildWatch& watch) {
  for (const std::string& place : request.library_places) look_for_libraries_in(place);
  for (const std::string& file : request.library_files) backends::cuda::prefer_file(file);
  BuildConfig& config = request.config;
  config.log = watch.log, config.progress = watch.progress;
  if (!request.plugin_libraries.empty()) {
    const auto plugins = std::make_shared<Plugins>();
    for (const std::string& library : request.plugin_libraries) plugins->load(library);
    config.plugins = plugins;
  }
  const std::string key = request.path.empty() ? plan_key(request.model, config) : plan_key(request.path, config);
  require(
      key == request.key, ErrorKind::io,
      "the model or the machine is not what it was when the build was asked for: ", first_difference(key, request.key));
  return request.path.empty() ? build_bytes(request.model, config) : build_file(request.path, config);
}

bool build_and_write(int request_file, int plan, const std::function<void(char, int, std::string_view)>& send) {
  const auto file = MappedFile::map(request_file, "the build request");
  BuildRequest request = read_request(file->bytes());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != static_cast<pid_t>(request.requester)) return false;  // it has gone before
  end_first();
  BuildWatch watch;
  watch.log = [&](Severity severity, std::string_view text) { send('L', static_cast<int>(severity), text); };
  watch.progress = [&](const Progress& step) { return send('P', 0, cat(step.done, " ", step.total, " ", step.phase)), true; };
  const Engine engine = build_requested(request, watch);
  engine.save([&](std::span<const std::byte> bytes) { write_all(plan, bytes); });
  send('D', 0, "");
  return true;
}

}  // namespace

bool answer_build_request(int request_file, int plan, int answers) noexcept {
  std::mutex mutex;
  const auto send = [&](char what, int number, std::string_view text) {
    const std::string line = answer(what, number, text);
    const std::lock_guard lock(mutex);
    write_all(answers, std::as_bytes(std::span(line)));
  };
  try {
    try {
      return build_and_write(request_file, plan, send);
    } catch (const Error& error) {
      send('E', static_cast<int>(error.kind()), error.what());
    } catch (const std::bad_alloc&) {
      send('E', static_cast<int>(ErrorKind::out_of_memory), "out of memory");
    } catch (const std::exception& error) {
      send('E', static_cast<int>(ErrorKind::internal), error.what());
    }
  } catch (...) {
  }  // nobody listens any more
  return false;
}

}  // namespace tenfold
