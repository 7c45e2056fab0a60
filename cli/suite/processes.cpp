#include "suite/processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "tenfold/error.h"

namespace tenfold::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// All of it; false at the other's end.
bool send_all(int to, const void* data, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t sent = ::send(to, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent, bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}
bool receive_all(int from, void* data, std::size_t bytes) {
  for (char* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = ::read(from, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got, bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// One process, which is given a piece of work at a time.
struct Worker {
  pid_t process = -1;
  int link = -1;
  std::size_t item = 0;
  Clock::time_point start;
  std::string got;
  bool ended = false;   // by us, because it took too long
};

[[noreturn]] void be_worker(int link, const std::function<std::string(std::size_t)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (std::uint64_t item = 0; receive_all(link, &item, sizeof item);) {
    const std::string answer = work(item);
    const std::uint64_t bytes = answer.size();
    if (!send_all(link, &bytes, sizeof bytes) || !send_all(link, answer.data(), answer.size())) break;
  }
  ::_exit(0);   // what this process's copies of streams hold is not written twice
}

std::string ending(int status) {
  if (WIFEXITED(status)) return "ended the process with code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

class Pool {
 public:
  Pool(const std::function<std::string(std::size_t)>& work, double limit_s) : work_(work), limit_s_(limit_s) {}
  ~Pool() {
    for (Worker& w : workers_) {
      ::kill(w.process, SIGKILL);
      end(w);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::size_t busy() const { return workers_.size(); }
  void start(std::size_t item) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("a connection");
    const pid_t process = ::fork();
    if (process < 0) fail("a process");
    if (process == 0) {
      ::close(ends[0]);
      for (const Worker& other : workers_) ::close(other.link);
      be_worker(ends[1], work_);
    }
    ::close(ends[1]);
    workers_.push_back({.process = process, .link = ends[0]});
    give(workers_.back(), item);
  }

  // Waits until something ends. `next` gives a worker that is free more to do, or false.
  void wait(const std::function<bool(std::size_t&)>& next, const std::function<void(std::size_t, const Outcome&)>& done) {
    std::vector<pollfd> links;
    for (const Worker& w : workers_) links.push_back({w.link, POLLIN, 0});
    ::poll(links.data(), links.size(), 200);
    for (std::size_t i = workers_.size(); i-- > 0;) {
      Worker& w = workers_[i];
      if (!w.ended && seconds_since(w.start) > limit_s_) w.ended = true, ::kill(w.process, SIGKILL);
      if (links[i].revents == 0) continue;
      const bool alive = receive(w);
      const std::size_t item = w.item;
      Outcome outcome{.seconds = seconds_since(w.start)};
      if (alive && !whole(w)) continue;
      if (whole(w)) {
        outcome.answer = w.got.substr(sizeof(std::uint64_t));
        std::size_t more = 0;
        if (!alive || !next(more)) end(w), workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
        else give(w, more);
      } else {
        outcome.died = end(w);
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      done(item, outcome);
    }
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw Error(ErrorKind::io, std::string("cannot make ") + what + ": " + std::strerror(errno));
  }
  void give(Worker& w, std::size_t item) {
    w.item = item, w.start = Clock::now(), w.got.clear();
    const std::uint64_t number = item;
    send_all(w.link, &number, sizeof number);   // to one that has died: wait() finds out
  }
  static bool receive(Worker& w) {   // false: it has ended
    char block[1 << 16];
    const ssize_t got = ::read(w.link, block, sizeof block);
    if (got > 0) w.got.append(block, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EINTR);
  }
  static bool whole(const Worker& w) {
    std::uint64_t bytes = 0;
    if (w.got.size() < sizeof bytes) return false;
    std::memcpy(&bytes, w.got.data(), sizeof bytes);
    return w.got.size() == sizeof bytes + bytes;
  }
  std::string end(Worker& w) const {
    ::close(w.link);
    int status = 0;
    while (::waitpid(w.process, &status, 0) < 0 && errno == EINTR) {}
    return w.ended ? "did not end within " + std::to_string(static_cast<int>(limit_s_)) + " s" : ending(status);
  }

  const std::function<std::string(std::size_t)>& work_;
  double limit_s_;
  std::vector<Worker> workers_;
};

}  // namespace

void in_processes(const std::vector<std::size_t>& items, int jobs, double limit_s, const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const Outcome&)>& done) {
  Pool pool(work, limit_s);
  std::size_t at = 0;
  const auto next = [&](std::size_t& item) { return at < items.size() && (item = items[at++], true); };
  for (;;) {
    for (std::size_t item = 0; pool.busy() < static_cast<std::size_t>(std::max(jobs, 1)) && next(item);) pool.start(item);
    if (pool.busy() == 0) return;
    pool.wait(next, done);
  }
}

}  // namespace tenfold::cli
