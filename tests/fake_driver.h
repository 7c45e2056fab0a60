// A CUDA driver that is none: memory is the host's, kernels are counted and compute nothing, graphs are lists of what was captured, and
// calls fail when a test wants them to. For the run time's promises where there is no GPU. Several threads may call it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cuda/device/driver.h"

namespace tenfold::tests {

struct FakeDriver {
  static constexpr int kOrdinal = 7;  // its GPU is number 7 of 8, so that it is no other test's
  static FakeDriver& the();
  static FakeDriver& get();           // used from the first call on; put() ends that
  static void put();

  std::size_t memory = std::size_t{1} << 30;  // what there is, and what is taken
  std::size_t taken = 0;
  int version = 13000, major = 9, minor = 0;  // the CUDA version that it is for, and the GPUs' compute capability
  int failure = 0;  // what every call that reaches the device answers, if it is not 0
  // The same by the GPU's number; how many kernels and graphs a GPU still runs before it answers 719
  // for ever; how many each one ran.
  std::map<int, int> failures, launches_left, launches_of;
  std::vector<const void*> recorded_on, followed_on;   // streams that events were recorded on, and that were told to follow one
  int instantiated = 0, updated = 0, alive = 0, launches = 0, waits = 0;
  std::vector<const void*> graphs_ran_on;  // streams
  std::map<void*, std::size_t> on_device;  // addresses that count as the device's, with their sizes
  std::set<void*> pinned;
  bool is_on_device(const void* p) const;
  // Copies happen when somebody waits for an event behind them, or for their stream: as late as a GPU may do them (fake_copies.cpp).
  bool late_copies = false;
  struct LateCopies {
    struct Copy {
      backends::cuda::DevicePointer to, from;
      std::size_t bytes;
    };
    std::vector<Copy> asked;
    std::size_t done = 0;                  // of `asked`, from its beginning
  };
  std::map<const void*, LateCopies> late;  // by stream
  std::map<const void*, std::pair<const void*, std::size_t>> behind;   // by event: its stream, and how many copies were asked of it before
  // The one call of this name that fails, behind so many that do not, and its answer.
  struct OneFailure {
    std::string call;
    int behind = 0, result = 1;
  } one_failure;
  int events = 0;                          // that were made and not ended
  std::map<void*, std::size_t> registered;   // of callers
  int contexts = 0;                        // kept from ending
  int clock_khz = 1980000;
  bool has_pools = true;
  struct FakePool {
    std::size_t keeps = 0, reserved = 0;
    std::multimap<std::size_t, void*> free;
  };
  std::map<const void*, FakePool> pools;
  std::map<void*, const void*> pool_of;    // of memory in use
  // Streams that a test says are being captured, with the status that the driver has for them; what was asked then that must not be, and
  // what went into the graph.
  std::map<const void*, int> capturing;
  void stream_status(const void* stream, int& status) const;
  std::vector<std::string> forbidden;
  int captured = 0;
  std::thread::id test_thread = std::this_thread::get_id();   // which made this
  int capture_mode = 0;                    // of that thread, as is `own`
  // A capture that the engine began: the streams in it, the events that lie in it, and what the driver would end it for (905 and 900,
  // then 901 from cuStreamEndCapture). `launches_till_break`: the test ends it so; below 0: it does not.
  struct OwnCapture {
    std::set<const void*> streams, events;
    std::string broken_by;
    int launches_till_break = -1, begun = 0, broken = 0;
    // Streams that were told to follow an event and were not waited for since. An early launch that is the first of a capture there is
    // answered with 901, as driver 580 does.
    std::set<const void*> following;
    bool first = false, behind_event = false;
  } own;
  std::vector<std::pair<void*, void (*)(void*)>> of_graphs;   // what captured graphs own, and what ends it
};

}  // namespace tenfold::tests
