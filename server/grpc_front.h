// gRPC of the server, from its options to its end; where it was built without, what says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/models.h"
#include "net/byte_budget.h"
#include "security/security.h"

namespace tenfold::server {

struct GrpcOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8001;  // 0: a free one
  int socket = -1;            // one that listens already, in place of both
  std::size_t max_message_bytes = 64 << 20;
  std::size_t max_connections = 10'000;
  int threads = 0;            // 0: chosen
  std::shared_ptr<ByteBudget> budget;            // null: one of its own
  std::shared_ptr<const Security> security;      // null: all calls are admitted, without TLS
  int compression_level = 0;  // of answers, for clients that accept gzip
};

class GrpcFront {
 public:
  virtual ~GrpcFront() = default;
  virtual std::uint16_t port() const = 0;
  virtual void ready_changed() = 0;  // tells those who watch its health
  virtual void stop_accepting() = 0;
  // Calls that there are have the time to end; false: it was not enough for all.
  virtual bool stop(std::chrono::milliseconds patience) = 0;
};

bool has_grpc();   // whether this build has it
// Listens. Null: this build has no gRPC. Throws Error where the address cannot be had.
std::unique_ptr<GrpcFront> open_grpc(std::shared_ptr<Models> models, const GrpcOptions& options);

}  // namespace tenfold::server
