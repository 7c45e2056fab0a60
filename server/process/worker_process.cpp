#include "process/worker_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace tenfold::server {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string("no worker can be started: ") + what + ": " + std::strerror(errno));
}

// Between fork and exec: the child's descriptors and signals.
[[noreturn]] void become_worker(char** line, const std::vector<int>& kept, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);         // it died before
  for (const int descriptor : kept) ::fcntl(descriptor, F_SETFD, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv("/proc/self/exe", line);
  ::_exit(127);
}

}  // namespace

WorkerProcess start_worker(std::vector<std::string> line, const Sockets& sockets, const Descriptor& models, Accept accept, int number) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) fail("socketpair");
  WorkerProcess worker;
  worker.link = Descriptor(pair[0]);
  const Descriptor other(pair[1]);
  std::vector<int> kept = {sockets.http.number(), other.number()};
  for (const Descriptor* one : {&sockets.metrics, &sockets.grpc, &models})
    if (*one) kept.push_back(one->number());
  line.insert(line.begin() + 1, worker_argument(sockets, other, models, accept, number));
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  worker.pid = ::fork();
  if (worker.pid < 0) fail("fork");
  if (worker.pid == 0) become_worker(pointers.data(), kept, parent);
  worker.since = std::chrono::steady_clock::now();
  return worker;
}

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return "code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

}  // namespace tenfold::server
