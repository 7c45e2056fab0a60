// Ports of other processes: answers, places that are taken and freed, clients and servers that die, and hostile ones.
#include "tenfold/port_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "low_latency/low_latency_for_tests.h"
#include "low_latency/port/handshake.h"

namespace tenfold {
namespace {

using namespace low_latency;
using namespace std::chrono_literals;

std::string socket_path(const char* name) { return "/tmp/tenfold_" + std::to_string(::getpid()) + name; }

// Runs `act` in a process that was forked before this one has threads of the test's; gives its exit code.
class Other {
 public:
  template <class Act>
  explicit Other(const Act& act) : id_(::fork()) {
    if (id_ == 0) ::_exit(act());
  }
  int wait() const {
    int state = 0;
    ::waitpid(id_, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 100 + WTERMSIG(state);
  }
  void kill() const { ::kill(id_, SIGKILL), wait(); }

 private:
  pid_t id_;
};

RunnerPort connect_soon(const std::string& path) {
  for (int i = 0;; ++i) try {
      return connect_port(path);
    } catch (const Error&) {
      if (i == 400) throw;
      std::this_thread::sleep_for(10ms);
    }
}

// 0: all answers are right.
int count_wrong(RunnerPort& port, const ToyCnn& cnn, unsigned count) {
  alignas(64) float y[16];
  unsigned sent = 0, got = 0;
  const std::int64_t limit = now_ns() + 20'000'000'000;
  for (Answer a; got < count;) {
    if (sent < count && sent < got + 8) sent += port.submit(sent, cnn.input(sent % 16).data());
    if (!port.poll(a, y)) {
      if (now_ns() > limit) return 3;
      continue;
    }
    const std::vector<double> truth = cnn.answer(cnn.input(got % 16).data());
    if (a.id != got++ || !a.status || std::abs(y[0] - truth[0]) > 1e-3 || std::abs(y[1] - truth[1]) > 1e-3) return 2;
  }
  return 0;
}

TEST(PortServer, ProcessesAskAndPlacesAreFreed) {
  const ToyCnn cnn;
  const std::string path = socket_path("a");
  std::vector<Other> others;
  for (int i = 0; i < 2; ++i)
    others.emplace_back([&] {
      RunnerPort port = connect_soon(path);
      if (port.input_bytes() != 128 || port.bindings().at(0).name != "input" || port.offset(1) != 0 || !port.served()) return 4;
      return count_wrong(port, cnn, 2000);
    });
  LatencyRunner runner(cnn.engine());
  PortServer server(runner, path, {.port = {.slots = 16}, .max_clients = 2});
  RunnerPort own = runner.open_port();
  RunnerThread thread({&runner}, {.spin = 100us});
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(count_wrong(own, cnn, 500), 0) << "a port of this process beside them";
  for (const Other& other : others) EXPECT_EQ(other.wait(), 0);
  EXPECT_TRUE(comes_true([&] { return server.clients() == 0; }));
  for (int again = 0; again < 5; ++again) {   // in places that others had
    RunnerPort port = connect_port(path);
    EXPECT_EQ(count_wrong(port, cnn, 50), 0);
  }
  std::vector<RunnerPort> taken;
  EXPECT_TRUE(comes_true([&] { return server.clients() == 0; }));
  for (int i = 0; i < 2; ++i) taken.push_back(connect_port(path));
  try {
    connect_port(path);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("all 2 places for clients are taken"), std::string::npos) << e.what();
  }
  EXPECT_EQ(count_wrong(taken[1], cnn, 50), 0);
}

TEST(PortServer, ADeadClientCostsNobodyAnything) {
  const ToyCnn cnn;
  const std::string path = socket_path("b");
  const Other dies([&] {
    RunnerPort port = connect_soon(path);
    for (std::uint64_t i = 0;; ++i) port.submit(i, cnn.input(1).data());
    return 0;
  });
  LatencyRunner runner(cnn.engine());
  PortServer server(runner, path, {.max_clients = 1});
  RunnerPort own = runner.open_port();
  RunnerThread thread({&runner});
  EXPECT_TRUE(comes_true([&] { return server.clients() == 1; }));
  dies.kill();
  EXPECT_TRUE(comes_true([&] { return server.clients() == 0; }));
  EXPECT_EQ(count_wrong(own, cnn, 200), 0);
  RunnerPort next = connect_port(path);
  EXPECT_EQ(count_wrong(next, cnn, 200), 0);
  EXPECT_TRUE(runner.ready());
}

TEST(PortServer, ADeadServerIsTold) {
  const ToyCnn cnn;
  const std::string path = socket_path("c");
  const Other dies([&] {
    LatencyRunner runner(cnn.engine());
    PortServer server(runner, path);
    RunnerThread thread({&runner});
    std::this_thread::sleep_for(100s);
    return 0;
  });
  RunnerPort port = connect_soon(path);
  EXPECT_EQ(count_wrong(port, cnn, 20), 0);
  EXPECT_TRUE(port.served());
  dies.kill();
  EXPECT_TRUE(comes_true([&] { return !port.served(); }));
  for (std::uint64_t i = 0; i < 1000; ++i) port.submit(i, cnn.input(0).data());
  EXPECT_GT(port.counts().rejected, 900u) << "its ring is full, and nobody waits";
  EXPECT_THROW(connect_port(path), Error);
  LatencyRunner runner(cnn.engine());
  {
    const PortServer replaces(runner, path);   // the socket that is left
    EXPECT_TRUE(connect_port(path).bindings().size() == 2);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PortServer, HostileClientsHarmNobody) {
  const ToyCnn cnn;
  const std::string path = socket_path("d");
  LatencyRunner runner(cnn.engine());
  PortServer server(runner, path, {.port = {.slots = 4}});
  RunnerPort own = runner.open_port();
  RunnerThread thread({&runner});
  unsigned random = 5;
  for (int round = 0; round < 60; ++round) {
    sockaddr_un address;
    Descriptor socket = socket_for(path, address);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    Descriptor file;
    const Offer offer = read_offer(receive_offer(socket.get(), file));
    if (!offer.refusal.empty()) continue;   // those before are not gone yet
    const std::size_t bytes = sizes_of(offer.layout, offer.port).bytes();
    EXPECT_NE(::ftruncate(file.get(), 0), 0) << "the server would die of it";
    const auto memory = map_shared(file.get(), bytes);
    for (int i = 0; i < 3000; ++i) {
      random = random * 1664525u + 1013904223u;
      static_cast<volatile unsigned char*>(memory.get())[(random >> 4) % bytes] = static_cast<unsigned char>(random >> 24);
    }
  }
  EXPECT_EQ(count_wrong(own, cnn, 200), 0);
}

TEST(PortServer, OffersThatAreCutOrChangedAreRefused) {
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  const std::string full_offer = written({.layout = layout_of(runner.bindings()), .port = {}});
  EXPECT_EQ(read_offer(full_offer).layout.input_bytes, 128);
  for (std::size_t cut = 0; cut < full_offer.size(); ++cut) EXPECT_THROW(read_offer(full_offer.substr(0, cut)), Error) << cut;
  unsigned random = 9;
  for (int i = 0; i < 5000; ++i) {
    std::string changed = full_offer;
    random = random * 1664525u + 1013904223u;
    changed[(random >> 8) % changed.size()] = static_cast<char>(random >> 24);
    try {
      read_offer(changed);
    } catch (const Error&) {
    }
  }
  EXPECT_THROW(map_shared(shared_file(4096).get(), 8192), Error);
}

Offer offer_of(const Shape& in, const Shape& out, int slots, DType dtype = DType::f32) {
  Offer offer;
  offer.layout.bindings.resize(2);
  offer.layout.bindings[0].name = "x", offer.layout.bindings[0].is_input = true;
  offer.layout.bindings[0].shape = in, offer.layout.bindings[0].dtype = dtype;
  offer.layout.bindings[1].name = "y", offer.layout.bindings[1].shape = out, offer.layout.bindings[1].dtype = DType::f32;
  offer.port.slots = slots;
  return offer;
}

// The sum of 126 slots for 2^57 bytes wraps around to some kilobytes, which a small file holds.
TEST(PortServer, OffersOfMoreThanMemoryAreRefused) {
  EXPECT_NO_THROW(read_offer(written(offer_of({4}, {4}, 126))));
  EXPECT_NO_THROW(read_offer(written(offer_of({1 << 20}, {4}, 32000))));
  const Shape large[] = {{std::int64_t{1} << 55}, {std::int64_t{1} << 60}, {INT64_MAX}, {1 << 30, 1 << 30}, {-1}, {INT64_MIN}};
  for (const Shape& shape : large)
    for (const int slots : {1, 126, 32000}) {
      EXPECT_THROW(read_offer(written(offer_of({4}, shape, slots))), Error) << text(shape) << " " << slots;
      EXPECT_THROW(read_offer(written(offer_of(shape, {4}, slots))), Error) << text(shape) << " " << slots;
    }
  for (const int slots : {INT32_MIN, -1, 0, 32001, INT32_MAX}) EXPECT_THROW(read_offer(written(offer_of({4}, {4}, slots))), Error) << slots;
  EXPECT_THROW(read_offer(written(offer_of({4}, {4}, 4, DType::string))), Error);
  Offer named = offer_of({4}, {4}, 4);
  named.layout.bindings[0].name = "\xff";
  EXPECT_THROW(read_offer(written(named)), Error);
}

// A server that offers such rings, and a small file for them: the client refuses, and does not read outside the file.
TEST(PortServer, HostileServersHarmNobody) {
  const std::string path = socket_path("h");
  sockaddr_un address;
  Descriptor door = socket_for(path, address);
  ASSERT_EQ(::bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(door.get(), 1), 0);
  for (const std::int64_t extent : {std::int64_t{1} << 55, std::int64_t{1} << 40}) {
    std::thread server([&] {
      Descriptor client(::accept(door.get(), nullptr, nullptr));
      const Descriptor file = shared_file(1 << 20);
      send_offer(client.get(), written(offer_of({4}, {extent}, 126)), file.get());
    });
    EXPECT_THROW(connect_port(path), Error) << extent;
    server.join();
  }
  ::unlink(path.c_str());
}

TEST(PortServer, RefusesWhatIsImpossible) {
  const ToyCnn cnn;
  LatencyRunner runner(cnn.engine());
  const std::string path = socket_path("e");
  EXPECT_THROW(PortServer(runner, std::string(200, 'x')), Error);
  EXPECT_THROW(PortServer(runner, "/no/such/folder/socket"), Error);
  EXPECT_THROW(PortServer(runner, path, {.max_clients = 0}), Error);
  EXPECT_THROW(PortServer(runner, path, {.port = {.slots = 0}}), Error);
  EXPECT_THROW(connect_port(path), Error);
  std::ofstream(path) << "a file";
  EXPECT_THROW(PortServer(runner, path), Error);
  EXPECT_TRUE(std::filesystem::remove(path)) << "it is left alone";
  const PortServer server(runner, path);
  EXPECT_THROW(PortServer(runner, path), Error) << "it is served";
  RunnerThread thread({&runner});
  EXPECT_THROW(PortServer(runner, socket_path("f")), Error);
  EXPECT_FALSE(std::filesystem::exists(socket_path("f")));
}

}  // namespace
}  // namespace tenfold
