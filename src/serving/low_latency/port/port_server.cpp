// PortServer: a thread that sleeps until processes come and go, and gives each a slot in the RunnerThread's walk.
#include "tenfold/port_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/system_error.h"
#include "low_latency/port/handshake.h"
#include "low_latency/runner/runner.h"

namespace tenfold {

using namespace low_latency;

namespace {

// A socket that nobody serves any more is in the way.
void remove_dead(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return;
  require(S_ISSOCK(info.st_mode), ErrorKind::invalid_argument, "'", path, "' is there and is no socket");
  sockaddr_un address;
  const Descriptor probe = socket_for(path, address);
  const bool lives = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  require(!lives, ErrorKind::invalid_argument, "another process serves '", path, "'");
  ::unlink(path.c_str());
}

}  // namespace

struct PortServer::State {
  struct Client {
    std::shared_ptr<PortSlot> port_slot;
    Descriptor socket;   // -1: the slot is free
  };
  LatencyRunner::State& runner;
  const std::string path;
  const PortServerOptions options;
  std::vector<Client> clients;
  Descriptor listener, stop;
  std::atomic<int> connected{0};
  std::thread thread;

  State(LatencyRunner::State& served, std::string where, const PortServerOptions& given)
      : runner(served), path(std::move(where)), options(given), stop(::eventfd(0, EFD_CLOEXEC)) {
    check_options(options.port);
    require(options.max_clients >= 1 && options.max_clients <= 1024, ErrorKind::invalid_argument, "max_clients is ",
            options.max_clients, ", expected 1 to 1024");
    require_system(stop.get() >= 0, ErrorKind::io, "no event for a server of ports");
    listen();
    const std::lock_guard lock(runner.mutex);
    if (runner.pulse) {
      ::unlink(path.c_str());
      fail(ErrorKind::invalid_argument,
           "the LatencyRunner's RunnerThread has begun, which serves the ports that were there then: make the PortServer first, then the "
           "thread");
    }
    for (int i = 0; i < options.max_clients; ++i) {
      clients.push_back({std::make_shared<PortSlot>(true), Descriptor()});
      runner.port_slots.push_back(clients.back().port_slot);
    }
    thread = std::thread([this] { serve_all(); });
  }
  ~State() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t reported = ::write(stop.get(), &one, sizeof one);
    thread.join();
    ::unlink(path.c_str());
    const std::lock_guard lock(runner.mutex);
    for (const Client& client : clients) serve(*client.port_slot, false);
  }

  void listen() {
    remove_dead(path);
    sockaddr_un address;
    listener = socket_for(path, address);
    ::fchmod(listener.get(), S_IRUSR | S_IWUSR);   // before it has a name
    const bool bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    require_system(bound && ::chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0 && ::listen(listener.get(), 16) == 0, ErrorKind::io,
                   "cannot serve '", path, "'");
  }

  void serve_all() {
    std::vector<pollfd> watched;
    while (true) {
      watched = {{stop.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
      for (const Client& client : clients) watched.push_back({client.socket.get(), POLLIN, 0});   // -1 is left out
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
      if (watched[0].revents != 0) return;
      for (std::size_t i = 0; i < clients.size(); ++i)
        if (watched[i + 2].revents != 0) let_go(clients[i]);   // a client has nothing to say but that it ends
      if (watched[1].revents != 0) admit();
    }
  }

  void let_go(Client& client) {
    client.socket = Descriptor();
    --connected;
  }

  void admit() noexcept {
    Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.get() < 0) return;
    const auto place = std::find_if(clients.begin(), clients.end(), [](const Client& c) { return c.socket.get() < 0; });
    try {
      Offer offer{.layout = runner.layout, .port = options.port};
      if (place == clients.end()) {
        offer.refusal = cat("all ", options.max_clients, " places for clients are taken");
        send_offer(socket.get(), written(offer), -1);
        return;
      }
      const PortSizes sizes = sizes_of(offer.layout, offer.port);
      const Descriptor file = shared_file(sizes.bytes());
      PortMemory memory(sizes, map_shared(file.get(), sizes.bytes()));
      memory.clear();
      {
        const std::lock_guard lock(runner.mutex);
        place->port_slot->put(std::make_unique<ServedRings>(memory));
      }
      if (!send_offer(socket.get(), written(offer), file.get())) return;
      place->socket = std::move(socket);
      ++connected;
    } catch (const std::exception& error) {
      runner.log(Severity::warning, "a process was given no port of '", path, "': ", error.what());
    }
  }
};

PortServer::PortServer(LatencyRunner& runner, const std::string& path, const PortServerOptions& options)
    : state_(std::make_unique<State>(runner.state(), path, options)) {}
PortServer::~PortServer() = default;
int PortServer::clients() const noexcept { return state_->connected.load(); }

RunnerPort connect_port(const std::string& path) {
  sockaddr_un address;
  Descriptor socket = socket_for(path, address);
  require_system(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, ErrorKind::io,
                 "nobody serves '", path, "'");
  Descriptor file;
  Offer offer = read_offer(receive_offer(socket.get(), file));
  require(offer.refusal.empty(), ErrorKind::invalid_argument, "the server of '", path, "' refuses: ", offer.refusal);
  const PortSizes sizes = sizes_of(offer.layout, offer.port);
  const PortMemory memory(sizes, map_shared(file.get(), sizes.bytes()));
  return RunnerPort(std::make_shared<RunnerPort::State>(std::move(offer.layout), memory, offer.port.when_full, nullptr, socket.release()));
}

}  // namespace tenfold
