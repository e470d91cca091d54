//===- Processes.cpp - what must not outlive the compiler -----------------===//
//
// A thread waits for the signals, so that it may do what handlers must not.
// Each child leads a process group: compilers have children too.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Processes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace mlir::mnistc;

extern char **environ;

namespace {
/// Held while a child starts and while all is taken down: none slips through.
std::mutex mutex;
std::set<pid_t> groups;
std::set<std::string> folders;
sigset_t interrupts;
} // namespace

[[noreturn]] static void endBy(int signal) {
  // Never let go: who waits for a child that is killed now reports nothing.
  mutex.lock();
  for (pid_t group : groups)
    kill(-group, SIGKILL);
  // They may still be writing.
  for (pid_t group : groups)
    while (waitpid(-group, nullptr, 0) > 0 || errno == EINTR)
      ;
  for (const std::string &folder : folders)
    llvm::sys::fs::remove_directories(folder);
  llvm::sys::RunInterruptHandlers(); // partial files
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  _exit(128 + signal);
}

static bool isIgnored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

void mlir::mnistc::handleInterrupts() {
  static std::set<int> ignored;
  sigset_t blocked;
  sigemptyset(&interrupts);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&interrupts, signal);
    if (isIgnored(signal))
      ignored.insert(signal);
  }
  blocked = interrupts;
  sigaddset(&blocked, SIGPIPE);
  sigaddset(&blocked, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::thread([] {
    int signal = 0;
    while (sigwait(&interrupts, &signal) != 0 || ignored.count(signal))
      ;
    endBy(signal);
  }).detach();
}

std::error_code TemporaryFolder::create() {
  std::lock_guard lock(mutex);
  llvm::SmallString<128> made;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, made);
  llvm::sys::path::append(made, "mnistc-XXXXXX");
  if (std::error_code code = llvm::sys::fs::make_absolute(made))
    return code;
  if (!mkdtemp(const_cast<char *>(made.c_str())))
    return std::error_code(errno, std::generic_category());
  folder = made.str().str();
  folders.insert(folder);
  return {};
}

void TemporaryFolder::keep() {
  std::lock_guard lock(mutex);
  folders.erase(folder);
  folder.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  std::lock_guard lock(mutex);
  llvm::sys::fs::remove_directories(folder);
  folders.erase(folder);
}

namespace {
/// How a child begins: in a new process group, with all signals unblocked.
class SpawnSettings {
public:
  SpawnSettings(const std::string &out, const std::string &err) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&files, 1, out.c_str(), flags, 0600);
    if (out == err)
      posix_spawn_file_actions_adddup2(&files, 1, 2);
    else
      posix_spawn_file_actions_addopen(&files, 2, err.c_str(), flags, 0600);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    // What compilers store in between has the weights too.
    std::string folder = llvm::sys::path::parent_path(out).str();
    for (char **entry = environ; *entry; ++entry)
      if (!StringRef(*entry).starts_with("TMPDIR="))
        environment.push_back(*entry);
    environment.push_back("TMPDIR=" + (folder.empty() ? "." : folder));
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  std::vector<std::string> environment;
};
} // namespace

static std::vector<char *> pointersTo(ArrayRef<std::string> texts) {
  std::vector<char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

int mlir::mnistc::runProgram(ArrayRef<std::string> command,
                             const std::string &out, const std::string &err,
                             std::string &message) {
  SpawnSettings settings(out, err);
  std::vector<char *> arguments = pointersTo(command);
  std::vector<char *> environment = pointersTo(settings.environment);
  pid_t child = 0;
  {
    std::lock_guard lock(mutex);
    int code =
        posix_spawn(&child, command[0].c_str(), &settings.files,
                    &settings.attributes, arguments.data(), environment.data());
    if (code != 0) {
      message = std::strerror(code);
      return -1;
    }
    groups.insert(child);
  }
  // Only looked at: its number stays taken until it is off the list.
  siginfo_t info = {};
  while (waitid(P_PID, child, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
    ;
  std::lock_guard lock(mutex);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  groups.erase(child);
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  message = std::string("killed by signal ") + strsignal(WTERMSIG(status));
  return -2;
}
