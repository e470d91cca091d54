//===- socket_ranks.cpp - ranks that find each other by TCP ---------------===//
//
// A star: each rank has a connection with rank 0, which combines in the order
// of the ranks. A frame is a head and bytes; both sides count the calls, so
// that a rank in another call is noticed.
//
//===----------------------------------------------------------------------===//

#include "ranks/socket_ranks.h"
#include "core/array.h"
#include "core/clock.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace mn {

namespace {

constexpr uint64_t magic = 0x316b6e61726e6d00; // begins every connection
constexpr int portsTried = 8;

/// A connection, closed with the object.
class Socket {
public:
  explicit Socket(int handle = -1) : handle(handle) {}
  Socket(Socket &&other) noexcept : handle(other.handle) { other.handle = -1; }
  Socket &operator=(Socket &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Socket() {
    if (handle >= 0)
      ::close(handle);
  }
  bool isOpen() const { return handle >= 0; }
  int get() const { return handle; }

private:
  int handle;
};

/// Whether a socket may be read within so many seconds.
bool isReadable(int handle, double seconds) {
  pollfd one = {handle, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(std::max(seconds, 0.0) * 1000)) > 0;
}

bool sendAll(int handle, const void *data, size_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes != 0) {
    const ssize_t sent = ::send(handle, next, bytes, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    next += sent, bytes -= static_cast<size_t>(sent);
  }
  return true;
}

enum class Received { all, closed, late };

Received receiveAll(int handle, void *data, size_t bytes, double seconds) {
  char *next = static_cast<char *>(data);
  const auto begin = Clock::now();
  while (bytes != 0) {
    if (!isReadable(handle, seconds - secondsSince(begin)))
      return Received::late;
    const ssize_t got = ::recv(handle, next, bytes, 0);
    if (got <= 0)
      return Received::closed;
    next += got, bytes -= static_cast<size_t>(got);
  }
  return Received::all;
}

/// What a rank says first, and rank 0 answers.
struct Greeting {
  uint64_t magic;
  int64_t rank, count;
};

struct Head {
  int64_t call; ///< the number of the call; below 0: a rank failed
  int64_t bytes;
};

class SocketRanks final : public Ranks {
public:
  SocketRanks(const RankPlace &where, double timeout)
      : Ranks(where), timeout(timeout) {}

  Status connectAll(const Launch &launch);
  Status reduce(Reduction kind, double *values, int64_t count) override;
  Status broadcast(void *bytes, size_t count) override;
  Status watch(double waited) override;

private:
  Status listenAt(const Launch &launch);
  Status connectTo(const Launch &launch);
  Status greet(Socket one);
  Status send(int rank, const void *data, size_t bytes);
  Status receive(int rank, void *data, size_t bytes);
  Status missing(int rank, const std::string &how);
  Status failed();
  void tell(Code) override;

  const double timeout;
  std::vector<Socket> others; ///< by rank; of others than rank 0, only rank 0
  int64_t calls = 0;
};

//===----------------------------------------------------------------------===//
// Finding each other
//===----------------------------------------------------------------------===//

/// The addresses of a host and port, freed with the object.
struct Addresses {
  Addresses(const char *host, int port, int flags) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    if (::getaddrinfo(host, std::to_string(port).c_str(), &hints, &first) != 0)
      first = nullptr;
  }
  ~Addresses() {
    if (first)
      ::freeaddrinfo(first);
  }
  Addresses(const Addresses &) = delete;
  Addresses &operator=(const Addresses &) = delete;
  addrinfo *first = nullptr;
};

Socket listenOn(int port) {
  const Addresses all(nullptr, port, AI_PASSIVE);
  for (addrinfo *at = all.first; at; at = at->ai_next) {
    Socket one(::socket(at->ai_family, at->ai_socktype, at->ai_protocol));
    const int yes = 1;
    ::setsockopt(one.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (one.isOpen() && ::bind(one.get(), at->ai_addr, at->ai_addrlen) == 0 &&
        ::listen(one.get(), 1024) == 0)
      return one;
  }
  return Socket();
}

Socket connectWith(const std::string &host, int port) {
  const Addresses all(host.c_str(), port, 0);
  for (addrinfo *at = all.first; at; at = at->ai_next) {
    Socket one(::socket(at->ai_family, at->ai_socktype, at->ai_protocol));
    if (one.isOpen() && ::connect(one.get(), at->ai_addr, at->ai_addrlen) == 0)
      return one;
  }
  return Socket();
}

void sendAtOnce(int handle) {
  const int yes = 1;
  ::setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Status SocketRanks::greet(Socket one) {
  Greeting said = {};
  sendAtOnce(one.get());
  // What is no rank says something else, or nothing.
  if (receiveAll(one.get(), &said, sizeof said, 1) != Received::all ||
      said.magic != magic)
    return Status::success();
  if (said.count != where.count || said.rank < 1 || said.rank >= where.count ||
      others[size_t(said.rank)].isOpen())
    return Status::error(
        Code::usage,
        text("expected each of ranks 1 to %d of %d once, got rank "
             "%lld of %lld",
             where.count - 1, where.count, static_cast<long long>(said.rank),
             static_cast<long long>(said.count)));
  const Greeting answer = {magic, 0, where.count};
  if (sendAll(one.get(), &answer, sizeof answer))
    others[size_t(said.rank)] = std::move(one);
  return Status::success();
}

Status SocketRanks::listenAt(const Launch &launch) {
  Socket door;
  for (int i = 0; i < portsTried && !door.isOpen(); ++i)
    door = listenOn(launch.port + i);
  if (!door.isOpen())
    return Status::error(Code::usage,
                         text("expected a free port from %d on, as MASTER_PORT "
                              "says, got none of %d",
                              launch.port, portsTried));
  const auto begin = Clock::now();
  for (;;) {
    std::string absent;
    for (int i = 1; i < where.count; ++i)
      if (!others[size_t(i)].isOpen())
        absent += (absent.empty() ? "" : ", ") + std::to_string(i);
    if (absent.empty())
      return Status::success();
    if (!isReadable(door.get(), timeout - secondsSince(begin)))
      return Status::error(Code::rankLost,
                           text("expected %d ranks at port %d within %.3g s, "
                                "got no rank %s",
                                where.count, launch.port, timeout,
                                absent.c_str()));
    MN_TRY(greet(Socket(::accept(door.get(), nullptr, nullptr))));
  }
}

Status SocketRanks::connectTo(const Launch &launch) {
  const Greeting mine = {magic, where.rank, where.count};
  const auto begin = Clock::now();
  for (int turn = 0; secondsSince(begin) < timeout; ++turn) {
    Socket one = connectWith(launch.address, launch.port + turn % portsTried);
    Greeting answer = {};
    if (one.isOpen()) {
      sendAtOnce(one.get());
      if (sendAll(one.get(), &mine, sizeof mine) &&
          receiveAll(one.get(), &answer, sizeof answer, 1) == Received::all &&
          answer.magic == magic) {
        others[0] = std::move(one);
        return Status::success();
      }
    }
    ::usleep(20000); // Rank 0 may not listen yet.
  }
  return Status::error(Code::rankLost,
                       text("expected rank 0 at %s:%d within %.3g s, got no "
                            "answer",
                            launch.address.c_str(), launch.port, timeout));
}

Status SocketRanks::connectAll(const Launch &launch) {
  if (launch.address.empty() || launch.port == 0)
    return Status::error(
        Code::usage, text("expected MASTER_ADDR and MASTER_PORT, where %s "
                          "says rank 0 is, got %s",
                          launch.launcher,
                          launch.address.empty() ? "no address" : "no port"));
  others.resize(size_t(where.count));
  return isFirst() ? listenAt(launch) : connectTo(launch);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The first rank tells the others, and speaks; where it is missed itself, the
/// second speaks.
Status SocketRanks::missing(int rank, const std::string &how) {
  if (isFirst())
    tell(Code::rankLost);
  std::string message;
  if (where.rank <= 1)
    message =
        text("expected all %d ranks in step %lld, got %s rank %d", where.count,
             static_cast<long long>(step + 1), how.c_str(), rank);
  return end(Status::error(Code::rankLost, message));
}

/// A rank that failed has said so itself; the first one passes it on.
Status SocketRanks::failed() {
  if (isFirst())
    tell(Code::rankLost);
  return end(Status::error(Code::rankLost, ""));
}

Status SocketRanks::send(int rank, const void *data, size_t bytes) {
  const Head head = {calls, static_cast<int64_t>(bytes)};
  const int handle = others[size_t(rank)].get();
  return sendAll(handle, &head, sizeof head) && sendAll(handle, data, bytes)
             ? Status::success()
             : missing(rank, "no connection with");
}

Status SocketRanks::receive(int rank, void *data, size_t bytes) {
  const int handle = others[size_t(rank)].get();
  const auto late = [&] {
    return missing(rank, text("no answer for %.3g s from", timeout));
  };
  Head head = {};
  const auto begin = Clock::now();
  while (!isReadable(handle, 0.1))
    if (secondsSince(begin) > timeout)
      return late();
  const Received got = receiveAll(handle, &head, sizeof head, timeout);
  if (got == Received::late)
    return late();
  if (got == Received::closed)
    return missing(rank, "no connection with");
  if (head.call < 0)
    return failed();
  if (head.call != calls || head.bytes != static_cast<int64_t>(bytes))
    return missing(rank, "another call of");
  return receiveAll(handle, data, bytes, timeout) == Received::all
             ? Status::success()
             : late();
}

Status SocketRanks::reduce(Reduction kind, double *values, int64_t count) {
  ++calls;
  const size_t bytes = size_t(count) * sizeof(double);
  if (!isFirst()) {
    MN_TRY(send(0, values, bytes));
    return receive(0, values, bytes);
  }
  std::vector<double> theirs(static_cast<size_t>(count));
  for (int rank = 1; rank < where.count; ++rank) {
    MN_TRY(receive(rank, theirs.data(), bytes));
    for (size_t i = 0; i < theirs.size(); ++i)
      values[i] = combine(kind, values[i], theirs[i]);
  }
  for (int rank = 1; rank < where.count; ++rank)
    MN_TRY(send(rank, values, bytes));
  return Status::success();
}

Status SocketRanks::broadcast(void *bytes, size_t count) {
  ++calls;
  if (!isFirst())
    return receive(0, bytes, count);
  for (int rank = 1; rank < where.count; ++rank)
    MN_TRY(send(rank, bytes, count));
  return Status::success();
}

/// A connection that is closed, or brings a failure, ends the wait; other
/// frames are of a call that this rank has not come to.
Status SocketRanks::watch(double waited) {
  for (int rank = 0; rank < where.count; ++rank) {
    if (!others[size_t(rank)].isOpen() ||
        !isReadable(others[size_t(rank)].get(), 0))
      continue;
    Head head = {};
    const ssize_t got = ::recv(others[size_t(rank)].get(), &head, sizeof head,
                               MSG_PEEK | MSG_DONTWAIT);
    if (got == 0)
      return missing(rank, "no connection with");
    if (got == sizeof head && head.call < 0)
      return failed();
  }
  return waited > timeout
             ? end(Status::error(
                   Code::rankLost,
                   text("expected all %d ranks in step %lld, got a GPU that "
                        "waits for %.3g s; '--timeout=SECONDS' waits longer",
                        where.count, static_cast<long long>(step + 1), waited)))
             : Status::success();
}

void SocketRanks::tell(Code code) {
  const Head head = {-1, static_cast<int64_t>(code)};
  for (const Socket &other : others)
    if (other.isOpen())
      sendAll(other.get(), &head, sizeof head);
}

} // namespace

Status openSocketRanks(const Launch &launch, double timeout,
                       std::unique_ptr<Ranks> &ranks) {
  auto opened = std::make_unique<SocketRanks>(launch.place, timeout);
  MN_TRY(opened->connectAll(launch));
  ranks = std::move(opened);
  return Status::success();
}

} // namespace mn
