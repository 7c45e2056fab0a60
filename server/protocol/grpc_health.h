// grpc.health.v1.Health, which probes and load balancers ask.
#pragma once

#include <memory>

#include "grpc/call.h"

namespace tenfold::server::grpc {

class Health {
 public:
  // Whether a service can be used; nothing: there is none of this name. "" is the server. Called in any thread.
  using Serving = std::function<std::optional<bool>(const std::string& service)>;
  explicit Health(Serving serving);
  ~Health();
  void add_to(Services& services);
  void changed();  // tells those who watch
  void end();      // tells them that nothing is served, and ends their calls: the server is going to stop

 private:
  struct Watches;
  std::shared_ptr<Watches> watches_;
};

}  // namespace tenfold::server::grpc
