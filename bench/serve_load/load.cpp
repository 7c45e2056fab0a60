#include "load.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <queue>
#include <random>
#include <stdexcept>
#include <utility>

#include "connection.h"

namespace tenfold::load {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using std::chrono::nanoseconds;

Time after(Time time, double seconds) { return time + nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

// A client, with at most one call.
struct Client {
  std::unique_ptr<Connection> connection;
  const Request* request = nullptr;   // of the call; null: none
  Time due;                           // when the call began, or should have
  std::uint64_t call = 0;             // tells its calls apart
  bool answered = false;              // once, at least
  bool dropping = false;              // its answer is not waited for
  std::uint32_t watched = 0;          // events
};

struct Drop {
  Time when;
  std::size_t client;
  std::uint64_t call;
  bool operator>(const Drop& other) const { return when > other.when; }
};

class Load {
 public:
  Load(const LoadOptions& options, const std::vector<Request>& requests)
      : options_(options), requests_(requests), random_(options.seed), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    address_.sin_family = AF_INET;
    address_.sin_port = htons(static_cast<std::uint16_t>(options.port));
    if (epoll_ < 0 || ::inet_pton(AF_INET, options.host.c_str(), &address_.sin_addr) != 1)
      throw std::runtime_error("'" + options.host + "' is no IPv4 address");
    clients_.resize(static_cast<std::size_t>(options.clients));
    for (std::size_t i = clients_.size(); i-- > 0;) free_.push_back(i);
  }
  ~Load() { ::close(epoll_); }

  Results run() {
    start_ = Clock::now();
    counted_from_ = after(start_, options_.warmup);
    end_ = after(counted_from_, options_.seconds);
    const Time give_up = after(end_, 30);   // for what is still on its way
    next_due_ = start_;
    Time now = start_;
    while (now < give_up && ((sending(now) && retired_ < clients_.size()) || busy_ > 0)) {
      begin_calls(now);
      drop_calls(now);
      wait(now);
      now = Clock::now();
    }
    results_.unanswered = busy_;
    results_.seconds = std::chrono::duration<double>(std::min(last_answer_, end_) - counted_from_).count();
    return std::move(results_);
  }

 private:
  bool sending(Time now) const { return now < end_ && (options_.count == 0 || results_.sent < options_.count); }

  // Closed loop: each free client calls. Open loop: calls that are due take free clients, and wait where there are none.
  void begin_calls(Time now) {
    if (options_.rate <= 0) {
      while (!free_.empty() && sending(now)) begin(Clock::now(), now);
      return;
    }
    for (; next_due_ <= now && next_due_ < end_; next_due_ = after(next_due_, gap_(random_) / options_.rate)) backlog_.push_back(next_due_);
    if (now >= end_) backlog_.clear();
    for (; !backlog_.empty() && !free_.empty() && sending(now); backlog_.pop_front()) begin(backlog_.front(), now);
  }

  void begin(Time due, Time now) {
    const std::size_t index = free_.back();
    Client& client = clients_[index];
    if (!client.connection && options_.retire && client.call > 0) return retire();
    if (!client.connection && !connect(client)) return options_.retire ? retire() : end_all();
    free_.pop_back();
    ++busy_;
    const std::size_t which = options_.shuffle ? random_() % requests_.size() : results_.sent % requests_.size();
    client.request = &requests_[which];
    client.due = due;
    client.dropping = options_.drop > 0 && std::uniform_real_distribution<>(0, 1)(random_) < options_.drop;
    ++client.call;
    ++results_.sent;
    const std::string& bytes = client.request->bytes;
    if (client.dropping) {
      const bool part = random_() % 4 == 0;
      if (part) client.connection->send_part(bytes, random_() % bytes.size());
      else client.connection->send(bytes);
      drops_.push({after(now, std::uniform_real_distribution<>(0, options_.drop_within_ms / 1e3)(random_)), index, client.call});
    } else {
      client.connection->send(bytes);
    }
    if (!client.connection->open()) return lose(client, index);
    watch(client, index);
  }

  bool connect(Client& client) {
    try {
      client.connection =
          options_.grpc ? connect_grpc(address_, options_.host + ":" + std::to_string(options_.port)) : connect_http(address_);
    } catch (const std::runtime_error& error) {
      results_.first_failed = error.what();
      return false;
    }
    ++results_.connections;
    client.watched = 0;
    return true;
  }
  void retire() { free_.pop_back(), ++retired_; }
  // Without sockets there is no load.
  void end_all() { end_ = Clock::now(), ++results_.failed; }

  void watch(Client& client, std::size_t index) {
    const std::uint32_t events = EPOLLIN | (client.connection->wants_write() ? EPOLLOUT : 0U);
    if (events == client.watched) return;
    epoll_event event{.events = events, .data = {.u64 = index}};
    ::epoll_ctl(epoll_, client.watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, client.connection->descriptor(), &event);
    client.watched = events;
  }

  void drop_calls(Time now) {
    for (; !drops_.empty() && drops_.top().when <= now; drops_.pop()) {
      Client& client = clients_[drops_.top().client];
      if (!client.request || client.call != drops_.top().call) continue;   // its answer was faster
      ++results_.dropped;
      if (!client.connection->cancel()) client.connection.reset();
      free(client, drops_.top().client);
    }
  }

  void wait(Time now) {
    Time until = after(now, 0.1);
    if (options_.rate > 0 && backlog_.empty() && next_due_ < end_) until = std::min(until, next_due_);
    if (!drops_.empty()) until = std::min(until, drops_.top().when);
    const auto left = std::max<nanoseconds>(until - now, nanoseconds(0)).count();
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    epoll_event events[256];
    const int count = ::epoll_pwait2(epoll_, events, std::size(events), &timeout, nullptr);
    for (int i = 0; i < count; ++i) advance(static_cast<std::size_t>(events[i].data.u64));
  }

  void advance(std::size_t index) {
    Client& client = clients_[index];
    if (!client.connection) return;   // dropped in this turn
    const auto answer = client.connection->advance();
    if (answer && client.request) {
      count(client, *answer);
      if (!std::exchange(client.answered, true) && ++warm_ == clients_.size() && options_.say_when_warm) std::fputs("warm\n", stderr);
      if (answer->closes) client.connection.reset();
      free(client, index);
    } else if (!client.connection->open()) {
      if (client.request) return lose(client, index);
      client.connection.reset();
    }
    if (client.connection) watch(client, index);
  }

  void lose(Client& client, std::size_t index) {
    ++results_.lost;
    client.connection.reset();
    free(client, index);
  }
  void free(Client& client, std::size_t index) {
    client.request = nullptr;
    free_.push_back(index);
    --busy_;
  }

  void count(const Client& client, const Answer& answer) {
    const Time now = Clock::now();
    last_answer_ = now;
    const bool right = !answer.ok || answers(*client.request, answer.body);
    if (!right && results_.wrong++ == 0) results_.first_wrong = client.request->tag + ": " + answer.body.substr(0, 300);
    if (!answer.ok && !answer.refused && results_.failed++ == 0) results_.first_failed = answer.body.substr(0, 300);
    if (now < counted_from_ || now >= end_) return;
    ++results_.statuses[answer.status];
    const nanoseconds latency = now - client.due;
    if (answer.ok) results_.ok.add(latency.count());
    if (!answer.refused) return;
    results_.refused.add(latency.count());
    if (client.request->timeout_us == 0) return void(++results_.refused_untimed);
    const std::int64_t late = latency.count() - client.request->timeout_us * std::int64_t{1000};
    if (late >= 0) results_.late.add(late);
    else ++results_.early;
  }

  const LoadOptions& options_;
  const std::vector<Request>& requests_;
  std::mt19937_64 random_;
  std::exponential_distribution<> gap_{1};
  const int epoll_;
  sockaddr_in address_{};
  std::vector<Client> clients_;
  std::vector<std::size_t> free_;
  std::deque<Time> backlog_;          // due times of calls that have no client yet
  std::priority_queue<Drop, std::vector<Drop>, std::greater<>> drops_;
  std::size_t busy_ = 0, retired_ = 0, warm_ = 0;
  Time start_, counted_from_, end_, next_due_, last_answer_;
  Results results_;
};

}  // namespace

Results run_load(const LoadOptions& options, const std::vector<Request>& requests) { return Load(options, requests).run(); }

}  // namespace tenfold::load
