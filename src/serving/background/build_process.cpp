// The asker's side: files in memory for request and plan, a pipe for answers, and the end of the process in every case.
#include "background/build_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include "base/files/file.h"
#include "base/log.h"
#include "tenfold/internal/interrupts.h"
#include "tenfold/internal/processor_slice.h"

extern char** environ;

namespace tenfold::background {
namespace {

constexpr int kLookMilliseconds = 50;     // whether to go on
constexpr std::size_t kMaxStray = 2000;  // of what the process wrote beside its answers: the end of it, for messages

[[noreturn]] void fail_io(const char* doing) {
  fail(ErrorKind::io, cat("cannot ", doing, " for the process that tunes: ", std::generic_category().message(errno)));
}

class Descriptor {
 public:
  // Above the numbers that the process gets them as, so that none is in another's way.
  Descriptor(int opened, const char* doing) {
    if (opened < 0) fail_io(doing);
    number_ = ::fcntl(opened, F_DUPFD_CLOEXEC, 10);
    const int error = errno;
    ::close(opened);
    errno = error;
    if (number_ < 0) fail_io(doing);
  }
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

// Whoever asked goes first.
void let_others_first(pid_t process) noexcept {
  constexpr int kNiceness = 10;
  const auto id = static_cast<id_t>(process);
  if (!set_processor_slice(process, kLongSlice, kNiceness))
    ::setpriority(PRIO_PROCESS, id, std::max(::getpriority(PRIO_PROCESS, id), kNiceness));
}

int memory_file(const char* name) { return ::memfd_create(name, MFD_CLOEXEC); }

// The program on 0 (request), 1 and 2 (answers) and 3 (plan), with no other file of ours, signals as if nobody had
// changed them, and a group of its own: what a terminal tells its programs is not meant for it.
class Process {
 public:
  Process(const std::string& program, int request, int answers, int plan) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, request, 0);
    ::posix_spawn_file_actions_adddup2(&files, answers, 1);
    ::posix_spawn_file_actions_adddup2(&files, answers, 2);
    ::posix_spawn_file_actions_adddup2(&files, plan, 3);
    ::posix_spawn_file_actions_addclosefrom_np(&files, 4);
    posix_spawnattr_t how;
    ::posix_spawnattr_init(&how);
    sigset_t none, all;
    ::sigemptyset(&none), ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&how, &none), ::posix_spawnattr_setsigdefault(&how, &all);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::string name = program, verb = "build-request";
    char* arguments[] = {name.data(), verb.data(), nullptr};
    std::vector<char*> surroundings;  // the request says where to look for libraries
    for (char** variable = environ; *variable != nullptr; ++variable)
      if (std::strncmp(*variable, "VIRTUAL_ENV=", 12) != 0) surroundings.push_back(*variable);
    surroundings.push_back(nullptr);
    const int failed = ::posix_spawn(&number_, program.c_str(), &files, &how, arguments, surroundings.data());
    ::posix_spawn_file_actions_destroy(&files), ::posix_spawnattr_destroy(&how);
    require(failed == 0, ErrorKind::io, "cannot start '", program, "': ", std::generic_category().message(failed));
    let_others_first(number_);
  }
  ~Process() {
    if (gone_) return;
    ::kill(number_, SIGKILL);
    look(true);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Whether it has ended. Programs that let nobody wait for their children leave nothing to ask.
  bool look(bool wait) {
    for (;;) {
      const pid_t found = gone_ ? number_ : ::waitpid(number_, &status_, wait ? 0 : WNOHANG);
      if (found < 0 && errno == EINTR) continue;
      if (found < 0) status_ = -1;
      return gone_ = found != 0;
    }
  }
  std::string end_in_words() const {
    if (status_ == -1) return "ended";
    if (WIFSIGNALED(status_))
      return cat("was ended by signal ", WTERMSIG(status_), " (", ::strsignal(WTERMSIG(status_)), ")");
    return cat("ended with code ", WEXITSTATUS(status_));
  }

 private:
  pid_t number_ = -1;
  int status_ = 0;
  bool gone_ = false;
};

// Takes the answers apart as they come.
class Answers {
 public:
  Answers(const Log& log, const BuildWatch* caller) : log_(log), caller_(caller) {}
  bool done = false;
  std::optional<Error> error;

  void take(std::string_view bytes) {
    for (const char c : bytes) {
      if (c != '\n') line_ += c == '\v' ? '\n' : c;
      if (c == '\n') take_line(), line_.clear();
    }
  }
  std::string stray() const {
    std::string text = stray_ + line_;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.empty() ? "" : cat(", having written: ", text);
  }

 private:
  void take_line() {
    if (line_.size() < 3 || line_[0] != kMark) {
      stray_ += line_ + "\n";
      if (stray_.size() > kMaxStray) stray_.erase(0, stray_.size() - kMaxStray);
      return;
    }
    const int number = line_[2] - '0';
    if (line_[1] == 'D') done = true;
    if (line_[1] == 'L') take_log(static_cast<Severity>(number), std::string_view(line_).substr(3));
    if (line_[1] == 'P') take_progress(line_.substr(3));
    if (line_[1] == 'E' && number >= 0 && number <= static_cast<int>(ErrorKind::internal))
      error = Error(static_cast<ErrorKind>(number), line_.substr(3));
  }
  void take_log(Severity severity, std::string_view text) const {
    if (caller_) return log_(severity, text);
    log_(severity == Severity::verbose ? Severity::verbose : Severity::info, "tuning in the background: ", text);
  }
  void take_progress(const std::string& text) const {   // "17 120 tune"
    char* end = nullptr;
    const long done_steps = std::strtol(text.c_str(), &end, 10), total = std::strtol(end, &end, 10);
    const std::string phase = *end == ' ' ? end + 1 : "";
    if (caller_ && caller_->progress && !caller_->progress({phase, static_cast<int>(done_steps), static_cast<int>(total)}))
      throw Error(ErrorKind::cancelled, "the build was cancelled by its progress callback");
  }
  const Log& log_;
  const BuildWatch* const caller_;
  std::string line_, stray_;
};

// Reads until the process has ended and nothing more is there. Another process that was forked meanwhile may hold the
// other end of the pipe.
void listen(Process& process, int pipe, Answers& answers) {
  char bytes[4096];
  for (bool ended = false;;) {
    throw_if_cancelled();
    pollfd look{pipe, POLLIN, 0};
    const int ready = ::poll(&look, 1, ended ? 0 : kLookMilliseconds);
    const ssize_t n = ready > 0 ? ::read(pipe, bytes, sizeof bytes) : -1;
    if (n > 0) {
      answers.take({bytes, static_cast<std::size_t>(n)});
      continue;
    }
    if (ended) return;
    if (n == 0) ::poll(nullptr, 0, 1);  // it has closed its end, and is about to go
    ended = process.look(false);
  }
}

}  // namespace

Engine build_in_process(const std::string& program, BuildRequest request, std::span<const std::byte> model,
                        const LoadOptions& load, const BuildWatch* caller) {
  request.requester = ::getpid();
  Descriptor request_file(memory_file("tenfold-request"), "make a file in memory"),
      plan(memory_file("tenfold-plan"), "make a file in memory");
  const std::string head = head_of(std::move(request));
  write_all(request_file.number(), std::as_bytes(std::span(head)));
  write_all(request_file.number(), model);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_io("make a pipe");
  Descriptor answers_in(ends[0], "make a pipe"), answers_out(ends[1], "make a pipe");
  const Log log(caller && caller->log ? caller->log : load.log);
  Answers answers(log, caller);
  {
    Process process(program, request_file.number(), answers_out.number(), plan.number());
    answers_out.close(), request_file.close();
    listen(process, answers_in.number(), answers);
    if (answers.error) throw *answers.error;
    require(answers.done, ErrorKind::io, "the process that tunes ('", program, "') ", process.end_in_words(),
            answers.stray());
  }
  return Engine::load(MappedFile::map(plan.number(), "the plan of the process that tunes")->bytes(), load);
}

}  // namespace tenfold::background
