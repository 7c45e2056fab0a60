#include "engines/metric_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "console.h"
#include "flags/flags.h"
#include "formats/arrays/npz.h"
#include "tenfold/error.h"
#include "tenfold/internal/file.h"

extern char** environ;

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char *kReference = "{reference}", *kCandidate = "{candidate}";

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "tenfold_metric_XXXXXX").string();
  Folder() {
    if (!::mkdtemp(path.data())) throw Error(ErrorKind::io, "--metric: no folder can be made in '" + path + "'");
  }
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path, none);
  }
  Folder(const Folder&) = delete;
};

Tensor joined(const std::string& output, std::span<const OutputSet> samples) {
  Shape shape = samples.front().at(output).shape();
  shape[0] = 0;
  for (const OutputSet& one : samples) shape[0] += one.at(output).shape()[0];
  Tensor all(samples.front().at(output).dtype(), shape);
  auto* at = static_cast<std::byte*>(all.mutable_raw());
  for (const OutputSet& one : samples) {
    const Tensor& t = one.at(output);
    if (t.bytes() > 0) std::memcpy(at, t.raw(), static_cast<std::size_t>(t.bytes()));
    at += t.bytes();
  }
  return all;
}

// Along the first axis they may have any extent.
bool can_join(const std::string& output, std::span<const OutputSet> samples) {
  const Tensor& first = samples.front().at(output);
  return !first.shape().empty() && std::all_of(samples.begin(), samples.end(), [&](const OutputSet& one) {
    const Tensor& t = one.at(output);
    return t.dtype() == first.dtype() && t.shape().size() == first.shape().size() &&
           std::equal(t.shape().begin() + 1, t.shape().end(), first.shape().begin() + 1);
  });
}

std::string archive(std::span<const OutputSet> samples) {
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const auto& [output, tensor] : samples.front()) {
    if (tensor.dtype() == DType::string) continue;
    if (can_join(output, samples)) arrays.emplace_back(output, joined(output, samples));
    else
      for (std::size_t i = 0; i < samples.size(); ++i) arrays.emplace_back(output + "/" + std::to_string(i), samples[i].at(output));
  }
  return formats::to_npz(arrays);
}

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}
std::string with(std::string command, const char* place, const std::string& path) {
  const std::string in = quoted(path);
  for (std::size_t at = command.find(place); at != std::string::npos; at = command.find(place, at + in.size()))
    command.replace(at, std::strlen(place), in);
  return command;
}

// A shell in a process group of its own, so that what it starts ends with it.
class Shell {
 public:
  explicit Shell(const std::string& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::io, "--metric: no pipe: " + std::string(std::strerror(errno)));
    out_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const char* const arguments[] = {"sh", "-c", command.c_str(), nullptr};
    const int failed = ::posix_spawn(&pid_, "/bin/sh", &actions, &attributes, const_cast<char* const*>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions), posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    if (failed) pid_ = -1, ::close(out_), throw Error(ErrorKind::io, "--metric: no shell: " + std::string(std::strerror(failed)));
  }
  ~Shell() {
    if (pid_ > 0) ::kill(-pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    ::close(out_);
  }
  Shell(const Shell&) = delete;

  // All that it prints until it ends; false: time was up.
  bool read(std::string& output, Clock::time_point until) {
    constexpr std::size_t kMax = 1 << 20;
    char piece[4096];
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
      pollfd wait{out_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, static_cast<int>(std::min<long long>(left, 1000)));
      if (ready <= 0) continue;
      const ssize_t got = ::read(out_, piece, sizeof piece);
      if (got <= 0) return true;
      if (output.size() < kMax) output.append(piece, static_cast<std::size_t>(got));
    }
  }
  // False: time was up.
  bool wait(int& status, Clock::time_point until) {
    for (;;) {
      if (::waitpid(pid_, &status, WNOHANG) == pid_) return pid_ = -1, true;
      if (Clock::now() >= until) return false;
      ::usleep(1000);
    }
  }

 private:
  int out_ = -1;
  pid_t pid_ = -1;
};

double number_in(const std::string& command, const std::string& output) {
  std::string text = output;
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  const std::string last = text.substr(text.find_last_of('\n') == std::string::npos ? 0 : text.find_last_of('\n') + 1);
  char* end = nullptr;
  const double value = std::strtod(last.c_str(), &end);
  if (last.empty() || *end != '\0' || value != value)
    throw Error(ErrorKind::io, "--metric: '" + printable(command) + "' printed " +
                                   (last.empty() ? std::string("nothing") : "'" + printable(last.substr(0, 80)) + "'") +
                                   "; its last line must be a number, the error");
  return value;
}

double run(const std::string& command, const std::string& filled, double seconds) {
  constexpr double kLongest = 1e8;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, kLongest)));
  Shell shell(filled);
  std::string output;
  int status = 0;
  if (!shell.read(output, until) || !shell.wait(status, until)) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", seconds);
    throw Error(ErrorKind::io, "--metric: '" + printable(command) + "' ran longer than " + limit + " s (--searchTime) and was ended");
  }
  if (WIFSIGNALED(status))
    throw Error(ErrorKind::io, "--metric: '" + printable(command) + "' ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    throw Error(ErrorKind::io, "--metric: '" + printable(command) + "' ended with status " + std::to_string(WEXITSTATUS(status)));
  return number_in(command, output);
}

}  // namespace

bool is_metric_command(const std::string& metric) { return metric.find('{') != std::string::npos || metric.find(' ') != std::string::npos; }

std::function<double(std::span<const OutputSet>, std::span<const OutputSet>)> metric_by_command(const std::string& command,
                                                                                               double seconds) {
  for (const char* place : {kReference, kCandidate})
    if (command.find(place) == std::string::npos)
      throw UsageError("--metric: '" + command + "' is a command without " + place + ", which stands for the answers in an .npz");
  return [command, seconds](std::span<const OutputSet> reference, std::span<const OutputSet> candidate) {
    const Folder folder;
    const std::string expected = folder.path + "/reference.npz", got = folder.path + "/candidate.npz";
    write_file(expected, archive(reference)), write_file(got, archive(candidate));
    return run(command, with(with(command, kReference, expected), kCandidate, got), seconds);
  };
}

}  // namespace tenfold::cli
