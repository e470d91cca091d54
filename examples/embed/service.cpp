//===- service.cpp - several threads, each with its session ---------------===//
//
// usage: service THREADS
//
// Prints the port that it listens on, on this host only. A client sends rows,
// as the model's input has them in memory; each is answered by a byte, the
// class with the highest score. Ends when its standard input does.
//
//===----------------------------------------------------------------------===//

#include <libdigits.h>

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mnist.hpp>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

/// Answers a client until it goes.
void serve(mnist::Session &session, int client) {
  std::vector<char> row(session.inputs().front().rowBytes);
  while (recv(client, row.data(), row.size(), MSG_WAITALL) ==
         static_cast<ssize_t>(row.size())) {
    const std::vector<float> scores = session.infer<float>(1, row);
    const auto best = std::max_element(scores.begin(), scores.end());
    const char answer = static_cast<char>(best - scores.begin());
    if (send(client, &answer, 1, MSG_NOSIGNAL) != 1)
      break;
  }
  close(client);
}

/// A thread: clients come to whichever is free. One session serves one thread;
/// of the cores, each uses one.
void work(int listener) try {
  mnist::Session session(digits_model(), {.threads = 1});
  for (int client; (client = accept(listener, nullptr, nullptr)) >= 0;)
    serve(session, client);
} catch (const mnist::Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  std::exit(error.status());
}

int listenOn(sockaddr_in &address) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  socklen_t size = sizeof address;
  if (listener < 0 || bind(listener, any, size) != 0 ||
      listen(listener, 16) != 0 || getsockname(listener, any, &size) != 0) {
    std::perror("error: cannot listen");
    std::exit(1);
  }
  return listener;
}

} // namespace

int main(int argc, char **argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 2;
  sockaddr_in address = {};
  const int listener = listenOn(address);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, listener);
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  shutdown(listener, SHUT_RDWR); // Nobody is accepted any more.
  for (std::thread &thread : threads)
    thread.join();
}
