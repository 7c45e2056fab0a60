// A thread for each helper process: it starts the process, hands it one source after the other, and ends it.
#include "backends/cuda/device/helpers.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "base/files/own_program.h"

extern char** environ;

namespace tenfold::backends::cuda {
namespace {

constexpr auto kIdle = std::chrono::seconds(3);   // then a helper ends

class Helper {
 public:
  Helper(const std::string& program, const std::string& compiler) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], 0);
    ::posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    std::string name = program, path = compiler;
    char* arguments[] = {name.data(), path.data(), nullptr};
    if (::posix_spawn(&process_, program.c_str(), &files, nullptr, arguments, environ) == 0) socket_ = ends[0];
    else ::close(ends[0]);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
  }
  ~Helper() {
    if (socket_ < 0) return;
    ::close(socket_);                   // the helper reads the end of its input
    ::kill(process_, SIGTERM);          // or is in the middle of something that nobody waits for
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {}
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  int socket() const { return socket_; }
  std::string compile(const std::string& source, int arch) {
    Message message{static_cast<std::uint32_t>(arch), pack_source(source, included_kernel_files(source))};
    if (socket_ < 0 || !send_message(socket_, message) || !receive_message(socket_, message)) {
      broken_ = true;
      return {};
    }
    return message.number == 1 ? std::move(message.text) : std::string();
  }
  bool broken() const { return broken_; }

 private:
  int socket_ = -1;
  pid_t process_ = -1;
  bool broken_ = false;
};

// Beside the library, in a wheel's folder of programs, or where an installation puts it.
constexpr std::initializer_list<const char*> kPlaces = {"tenfold-nvrtc", "bin/tenfold-nvrtc", "../libexec/tenfold/tenfold-nvrtc",
                                                        "../../libexec/tenfold/tenfold-nvrtc"};

}  // namespace

std::string find_helper() {
  if (const char* named = std::getenv("TENFOLD_NVRTC_HELPER")) return ::access(named, X_OK) == 0 ? named : "";
  return own_program(kPlaces);
}

std::string helper_of(const std::filesystem::path& library, const std::filesystem::path& program) {
  return program_beside(kPlaces, library, program);
}

struct HelperPool::State {
  struct Job {
    std::string source;
    int arch = 0;
    Done done;
  };
  std::string helper, compiler;
  int max_threads = 1, idle = 0;
  bool stopping = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  std::vector<int> sockets;            // of helpers at work: closing them ends a thread's wait
  std::vector<std::thread> threads, ended;

  // Under the lock: a job that comes now needs another thread.
  void leave() {
    for (auto it = threads.begin(); it != threads.end(); ++it)
      if (it->get_id() == std::this_thread::get_id()) {
        ended.push_back(std::move(*it));
        threads.erase(it);
        break;
      }
  }
  // Takes the next job; false when there is nothing left to do for this thread.
  bool next(Job& job) {
    std::unique_lock lock(mutex);
    ++idle;
    changed.wait_for(lock, kIdle, [&] { return stopping || !jobs.empty(); });
    --idle;
    if (stopping || jobs.empty()) return leave(), false;
    job = std::move(jobs.front());
    jobs.pop_front();
    return true;
  }
  void note(int socket, bool working) {
    std::lock_guard lock(mutex);
    if (working) sockets.push_back(socket);
    else std::erase(sockets, socket);
    if (stopping && working) ::shutdown(socket, SHUT_RDWR);
  }
  void work() {
    Job job;
    std::unique_ptr<Helper> process;
    while (next(job)) {
      if (!process) process = std::make_unique<Helper>(helper, compiler), note(process->socket(), true);
      std::string binary = process->compile(job.source, job.arch);
      if (process->broken()) note(process->socket(), false), process.reset();
      job.done(std::move(binary));
      job = {};
    }
    if (process) note(process->socket(), false);
  }
};

HelperPool::HelperPool(std::string helper, std::string compiler, int max_threads) : state_(std::make_unique<State>()) {
  state_->helper = std::move(helper), state_->compiler = std::move(compiler), state_->max_threads = max_threads;
}

HelperPool::~HelperPool() {
  std::deque<State::Job> left;
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    for (int socket : state_->sockets) ::shutdown(socket, SHUT_RDWR);
    left.swap(state_->jobs);
  }
  state_->changed.notify_all();
  for (State::Job& job : left) job.done({});
  for (bool more = true; more;) {
    std::thread one;
    {
      std::lock_guard lock(state_->mutex);
      auto& from = state_->threads.empty() ? state_->ended : state_->threads;
      more = !from.empty();
      if (more) one = std::move(from.back()), from.pop_back();
    }
    if (one.joinable()) one.join();
  }
}

void HelperPool::compile(std::string source, int arch, Done done) {
  State& s = *state_;
  std::vector<std::thread> ended;
  {
    std::lock_guard lock(s.mutex);
    ended.swap(s.ended);
    s.jobs.push_back({std::move(source), arch, std::move(done)});
    if (static_cast<int>(s.jobs.size()) > s.idle && static_cast<int>(s.threads.size()) < s.max_threads)
      s.threads.emplace_back([&s] { s.work(); });
  }
  s.changed.notify_one();
  for (std::thread& t : ended) t.join();
}

}  // namespace tenfold::backends::cuda
