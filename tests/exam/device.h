// Device: what calls wait for: a disk or server that takes some requests at once, or a lock whose rate depends on how
// many crowd around it.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/exam/events.h"
#include "tests/exam/shared_server.h"

namespace penstock::exam {

struct DeviceSpec {
  int slots = 0;                   // requests at once; the others queue. 0: as many as come
  std::vector<double> rates = {};  // instead: calls/s by how many are there, from 1 on; beyond the last one as that
};

class Device final : public Client {
 public:
  Device(DeviceSpec spec, EventQueue& events, const Time& now) : spec_(std::move(spec)), events_(events), now_(now) {}

  // Wakes the client when it has been served. `time`: of its service alone; `calls`: the same as a share of the average
  // call.
  void request(double time, double calls, Client& client);
  void leave();  // a client has been served
  void wake() override;

 private:
  struct Request {
    double time;
    Client* client;
  };
  void begin(const Request& request);
  double rate_each() const;
  void advance();
  void expect_next();

  const DeviceSpec spec_;
  EventQueue& events_;
  const Time& now_;
  int busy_ = 0;
  Ring<Request> queue_;
  SharedServer crowd_;  // of a lock
  Time served_until_ = 0, next_ = kNever;
};

}  // namespace penstock::exam
