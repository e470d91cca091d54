//===- threads.cpp - whether there are threads to compute with ------------===//

#include "cpu/threads.h"
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace mn {

Status checkThreads(int count) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::thread> threads;
  std::string why;
  try {
    // All at a time, as they will be. The calling thread is one.
    for (int i = 1; i < count; ++i)
      threads.emplace_back([ended] { ended.wait(); });
  } catch (const std::system_error &error) {
    why = error.code().message();
  }
  const size_t made = threads.size() + 1;
  end.set_value();
  for (std::thread &thread : threads)
    thread.join();
  if (why.empty())
    return Status::success();
  return Status::error(Code::outOfMemory,
                       "expected " + std::to_string(count) + " threads, got " +
                           std::to_string(made) + " (" + why +
                           "); OMP_NUM_THREADS=" + std::to_string(made) +
                           " takes fewer");
}

} // namespace mn
