#include "process/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <utility>

#include "config/observe_options.h"
#include "observe/log.h"
#include "process/link.h"
#include "process/report.h"
#include "process/worker_process.h"

namespace tenfold::server {
namespace {

using Clock = std::chrono::steady_clock;
using State = WorkerProcess::State;

constexpr int kMaxFailedStarts = 10;                     // in a row: then the server ends
// Before a worker is started again: they double. One that had served leaves clients that wait.
constexpr std::chrono::milliseconds kFirstWait{100}, kLongestWait{5000}, kLongestOfClients{800};
constexpr std::chrono::seconds kLived{1};                // of serving, after which a death is none in a row
constexpr std::chrono::seconds kBetweenLosses{10};       // of devices: another process may not help either

class Supervisor {
 public:
  Supervisor(const cli::ServeOptions& options, const std::vector<std::string>& line, Sockets sockets)
      : options_(options), line_(line), sockets_(std::move(sockets)) {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR2, SIGHUP, SIGCHLD}) ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = Descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    std::signal(SIGPIPE, SIG_IGN);                       // of the watchdog's connections
    if (manager_.watchdog()) watchdog_.emplace(manager_, answers_on(options, sockets_));
  }
  int run() {
    start(Accept::at_once);
    while (!code_) turn();
    return *code_;
  }

 private:
  void turn();
  int wait_milliseconds() const;
  void take_signals();
  void take_messages(WorkerProcess& worker);
  void reap();
  void ended(const WorkerProcess& worker, int status);
  void start(Accept accept);
  void start_again(bool had_served);
  void replace();
  void replace_lost();
  void serves(WorkerProcess& worker, const std::string& where);
  void changed(const WorkerProcess& by, const Descriptor& file);
  void reload();
  void reloaded();
  void stop();
  bool has(State state) const;
  void log(const std::string& line, const Source& source = Source::current()) const { log_info("supervisor: " + line, source); }

  const cli::ServeOptions& options_;
  const std::vector<std::string>& line_;
  const Sockets sockets_;
  Descriptor signals_;
  const ServiceManager manager_;
  std::optional<Watchdog> watchdog_;
  std::map<std::string, ModelChange> changes_;           // the last one of each model
  std::string where_;                                    // the line of the worker that serves
  bool reloading_ = false;                               // as the manager was told
  std::vector<WorkerProcess> workers_;
  bool was_ready_ = false, stopping_ = false;
  int starts_ = 0;                                       // of workers
  int deaths_ = 0, failed_starts_ = 0;                   // in a row
  int worst_code_ = 0;                                   // of workers that ended since stop()
  std::optional<Clock::time_point> start_at_, replace_at_, kill_at_;
  Clock::time_point last_loss_{};
  std::optional<int> code_;                              // of this process, which ends
};

bool Supervisor::has(State state) const {
  return std::any_of(workers_.begin(), workers_.end(), [&](const WorkerProcess& worker) { return worker.state == state; });
}

int Supervisor::wait_milliseconds() const {
  auto due = Clock::time_point::max();
  for (const auto& time : {start_at_, replace_at_, kill_at_})
    if (time) due = std::min(due, *time);
  if (due == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

void Supervisor::turn() {
  std::vector<pollfd> watched = {{signals_.number(), POLLIN, 0}};
  for (const WorkerProcess& worker : workers_) watched.push_back({worker.link.number(), POLLIN, 0});
  ::poll(watched.data(), watched.size(), wait_milliseconds());
  for (std::size_t i = 1; i < watched.size(); ++i)
    if (watched[i].revents) take_messages(workers_[i - 1]);
  take_signals();
  reap();
  const auto now = Clock::now();
  if (kill_at_ && now >= *kill_at_) {
    log("the worker has not ended in time, and is killed");
    for (const WorkerProcess& worker : workers_) ::kill(worker.pid, SIGKILL);
    kill_at_.reset();
    worst_code_ = std::max(worst_code_, 1);
  }
  if (start_at_ && now >= *start_at_) start_at_.reset(), start(was_ready_ ? Accept::soon : Accept::at_once);
  if (replace_at_ && now >= *replace_at_) replace_at_.reset(), replace();
}

void Supervisor::take_signals() {
  signalfd_siginfo signal;
  while (!code_ && ::read(signals_.number(), &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGINT) stop();
    if (signal.ssi_signo == SIGUSR2 && !stopping_) replace();
    if (signal.ssi_signo == SIGHUP && !stopping_) reload();
  }
}

// A worker that starts may have read the list before, so it is told, too.
void Supervisor::changed(const WorkerProcess& by, const Descriptor& file) {
  try {
    const std::vector<ModelChange> changes = changes_of_file(file);
    for (const ModelChange& change : changes) changes_[change.name] = change;
    for (const WorkerProcess& worker : workers_)
      if (worker.pid != by.pid && worker.link && worker.state != State::leaving) send_changes(worker.link, changes, false);
  } catch (const std::exception& error) {
    log(error.what());
  }
}

// Tells the manager, which may wait for the end of it.
void Supervisor::reload() {
  if (was_ready_) manager_.reloading(), reloading_ = true;
  for (const WorkerProcess& worker : workers_) ::kill(worker.pid, SIGHUP);
  if (!has(State::serving)) reloaded();                  // a worker that starts reads the files anyway
}

void Supervisor::reloaded() {
  if (std::exchange(reloading_, false)) manager_.ready(where_);
}

void Supervisor::take_messages(WorkerProcess& worker) {
  for (bool link_ended = false;;) {
    const std::optional<Packet> packet = receive(worker.link, link_ended);
    if (link_ended) worker.link = Descriptor();          // the worker ends, too, which reap() sees
    if (!packet) return;
    switch (packet->message) {
      case Message::ready: serves(worker, packet->words); break;
      case Message::lost: worker.lost = true, replace_lost(); break;
      case Message::reloaded: reloaded(); break;
      case Message::models: changed(worker, packet->file); break;
      case Message::status:
        if (!was_ready_) manager_.loading(packet->words);
        else if (!has(State::serving)) manager_.status(packet->words);
        break;
      default: break;
    }
  }
}

void Supervisor::replace_lost() {
  if (stopping_ || replace_at_) return;
  replace_at_ = std::max(Clock::now(), last_loss_ + kBetweenLosses);
  last_loss_ = *replace_at_;
}

void Supervisor::serves(WorkerProcess& worker, const std::string& where) {
  for (WorkerProcess& other : workers_)
    if (other.state == State::serving) {
      other.state = State::leaving;
      send(other.link, Message::hand_over);
    }
  worker.state = State::serving;
  worker.since = Clock::now();
  was_ready_ = true;
  failed_starts_ = 0;
  where_ = where;
  reloading_ = false;
  manager_.ready(where);
}

void Supervisor::start(Accept accept) {
  try {
    std::vector<ModelChange> changes;
    for (const auto& [name, change] : changes_) changes.push_back(change);
    workers_.push_back(start_worker(line_, sockets_, changes.empty() ? Descriptor() : file_of_changes(changes), accept,
                                    ++starts_));
  } catch (const std::exception& error) {
    log(error.what());
    ++deaths_, ++failed_starts_;
    start_again(false);
  }
}

void Supervisor::start_again(bool had_served) {
  if (failed_starts_ >= kMaxFailedStarts) {
    log(std::to_string(failed_starts_) + " workers in a row died before they served, so the server ends");
    code_ = 1;
    return;
  }
  const int times = deaths_ - (had_served ? 2 : 1);      // the first one of those is started at once
  const auto wait = times < 0 ? std::chrono::milliseconds(0) : kFirstWait * (1 << std::min(times, 10));
  start_at_ = Clock::now() + std::min(wait, had_served ? kLongestOfClients : kLongestWait);
}

void Supervisor::replace() {
  if (has(State::starting) || start_at_) return log("a worker starts already");
  log("a worker starts; the one that serves leaves when it is ready");
  if (has(State::serving)) manager_.reloading(), reloading_ = true;
  start(Accept::ready);
}

void Supervisor::stop() {
  if (stopping_) {                                       // a second signal
    for (const WorkerProcess& worker : workers_) ::kill(worker.pid, SIGKILL);
    code_ = 1;
    return;
  }
  stopping_ = true;
  start_at_.reset(), replace_at_.reset();
  kill_at_ = Clock::now() + patience_at_end(options_);
  manager_.stopping(patience_at_end(options_));
  for (const WorkerProcess& worker : workers_) send(worker.link, Message::stop);
  if (workers_.empty()) code_ = 0;
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t pid; !code_ && (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const WorkerProcess& worker) { return worker.pid == pid; });
    if (found == workers_.end()) continue;
    take_messages(*found);                               // its last ones
    WorkerProcess worker = std::move(*found);
    workers_.erase(found);
    ended(worker, status);
  }
}

void Supervisor::ended(const WorkerProcess& worker, int status) {
  const std::string how = "worker " + std::to_string(worker.pid) + " ended with " + how_it_ended(status);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (stopping_) {
    worst_code_ = std::max(worst_code_, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    if (!WIFEXITED(status)) log(how);
    if (workers_.empty()) code_ = worst_code_;
    return;
  }
  if (worker.state == State::leaving) {
    if (!well) log(how + " before all of its connections had their answers");
    return;
  }
  // A model that cannot be loaded ends the first worker by a code, and the server with it.
  if (worker.state == State::starting && !was_ready_ && WIFEXITED(status)) {
    code_ = WEXITSTATUS(status);
    return;
  }
  const auto serves = [](const WorkerProcess& other) { return other.state == State::serving; };
  const auto serving = std::find_if(workers_.begin(), workers_.end(), serves);
  if (worker.state == State::starting && serving != workers_.end()) {
    log(how + " before it was ready: the other one serves on");
    reloaded();
    if (serving->lost) replace_lost();
    return;
  }
  const bool served = worker.state == State::serving;
  deaths_ = served && Clock::now() - worker.since >= kLived ? 1 : deaths_ + 1;
  if (!served) ++failed_starts_;
  if (has(State::starting)) return log(how);
  log(how + ": another one starts");
  manager_.status(how + ": another one starts");
  start_again(served);
}

}  // namespace

int supervise(const cli::ServeOptions& options, const std::vector<std::string>& line, Sockets sockets) {
  set_log_options(options.observe);
  return Supervisor(options, line, std::move(sockets)).run();
}

}  // namespace tenfold::server
