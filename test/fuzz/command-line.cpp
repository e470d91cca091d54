//===- command-line.cpp - a program's arguments ---------------------------===//

#include "commands/options.h"
#include "core/executor.h"
#include <fcntl.h>
#include <unistd.h>

/// Commands end where they would compute: nothing is written.
mn::Status mn::Executor::open(const Model &, const ExecutorOptions &,
                              std::unique_ptr<Executor> &) {
  return Status::error(Code::noDevice, "expected a device, got none");
}

size_t mn::deviceBytes(const Model &) { return 0; }
std::string mn::librarySearch() { return ""; }
bool mn::opensSlowly() { return false; }
int mn::usefulExecutors() { return 1; }
void mn::setUpRanks() {}
mn::Status mn::countDevices(int &count) {
  count = 0;
  return Status::success();
}

static const mn::Model model = {
    mn::modelVersion, "fuzzed", "mnistc", "", "cpu",   "x86-64", nullptr, 0,
    nullptr,          0,        nullptr,  0,  nullptr, 0,        nullptr, 0};

/// Arguments are separated by zeros.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int silent = open("/dev/null", O_WRONLY);
  static const bool quiet = dup2(silent, 1) == 1;
  std::vector<std::string> texts = {"app"};
  std::string text(reinterpret_cast<const char *>(data), size);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    texts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<char *> arguments;
  for (std::string &argument : texts)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  (void)quiet;
  mn::runCommandLine(model, static_cast<int>(texts.size()), arguments.data());
  return 0;
}
