//===- nvrtc.cpp - an NVRTC that compiles for this machine ----------------===//
//
// libnvrtc.so.13 for machines without a GPU: kernels become a shared library of
// the CPU's code, which the fake driver runs. The text is preprocessed first,
// so that each kernel's name and launch bounds can be read.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Program {
  std::string text, log, code;
};

struct Folder {
  std::string path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "emulated-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const char *name) const { return path + "/" + name; }
};

std::string read(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const std::string &file, const std::string &text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string quoted(const std::string &text) {
  return "'" + std::regex_replace(text, std::regex("'"), "'\\''") + "'";
}

/// Options of NVRTC that the compiler has, too.
std::string known(int count, const char *const *options) {
  std::string all, number = "90a"; // of the architecture
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    for (const char *prefix : {"--include-path=", "-I"})
      if (option.starts_with(prefix))
        all +=
            " -I" +
            quoted(fs::absolute(option.substr(std::strlen(prefix))).string());
    if (option.starts_with("-D"))
      all += " " + quoted(option);
    if (const std::string prefix = "--gpu-architecture=sm_";
        option.starts_with(prefix))
      number = option.substr(prefix.size());
  }
  all += " -D__CUDA_ARCH__=" + std::to_string(10 * std::stoi(number));
  return all + (number == "90a" ? " -D__CUDA_ARCH_FEAT_SM90_ALL" : "");
}

/// The end of the parentheses or braces that open at `at`.
size_t afterClosing(const std::string &text, size_t at) {
  const char open = text[at], close = open == '(' ? ')' : '}';
  int depth = 0;
  do {
    depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
    ++at;
  } while (depth != 0);
  return at;
}

size_t skipSpace(const std::string &text, size_t at) {
  while (std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  return at;
}

/// If `word` is at `at`, what is in the parentheses behind it; moves on.
std::string take(const std::string &text, size_t &at, const char *word) {
  at = skipSpace(text, at);
  if (text.compare(at, std::strlen(word), word) != 0)
    return "";
  const size_t begin = skipSpace(text, at + std::strlen(word));
  at = afterClosing(text, begin);
  return text.substr(begin, at - begin);
}

/// Leaves names of files where lines are from without their folders, but for
/// the system's, from which a compiler takes more: the headers of kernels are
/// in other folders each time.
std::string withoutFolders(const std::string &text) {
  std::istringstream lines(text);
  std::string all, line;
  while (std::getline(lines, line)) {
    const size_t name = line.find('"') + 1, end = line.rfind('/');
    if (line.starts_with("# ") && name != 0 && end != std::string::npos &&
        !line.substr(name).starts_with("/usr/"))
      line.erase(name, end + 1 - name);
    all += line + "\n";
  }
  return all;
}

/// Makes kernels functions, and adds each to the list of them.
void rewriteKernels(std::string &text) {
  const std::string mark = "__global__ void";
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    const size_t begin = at;
    at += mark.size();
    const std::string threads = take(text, at, "__launch_bounds__");
    const std::string cluster = take(text, at, "__cluster_dims__");
    at = skipSpace(text, at);
    const size_t end = text.find('(', at);
    const std::string name = text.substr(at, end - at);
    const size_t body = text.find('{', afterClosing(text, end));
    text.insert(afterClosing(text, body),
                "\nstatic const bool " + name + "_is_known = emulated::add<" +
                    name + ">(\"" + name + "\", emulated::first" + threads +
                    ", emulated::first" + (cluster.empty() ? "(1)" : cluster) +
                    ");\n");
    text.replace(begin, end - begin, "void " + name);
  }
}

bool compile(Program &program, const std::string &options) {
  const Folder folder;
  const std::string log = folder / "log", emulated = MN_EMULATED_FOLDER;
  // In the folder, whose name is another one each time: what names no folder,
  // ccache knows again.
  const auto run = [&](const std::string &arguments) {
    const std::string command = "cd " + quoted(folder.path) +
                                " && " MN_CLANG " -std=c++20 -w -fPIC " +
                                arguments + " 2>>" + quoted(log);
    const bool good = std::system(command.c_str()) == 0;
    program.log = read(log);
    return good;
  };
  write(folder / "text.cpp", program.text);
  if (!run("-E -D__CUDACC__ -D__grid_constant__= -I" +
           quoted(emulated + "/include") + " -include " +
           quoted(emulated + "/kernel.h") + options + " text.cpp -o all.cpp"))
    return false;
  std::string rewritten = withoutFolders(read(folder / "all.cpp"));
  rewriteKernels(rewritten);
  write(folder / "all.cpp", rewritten);
  // What -O2 makes of the kernels of test/gpu takes half as long again to
  // compile, and no less to run.
  if (!run("-O1 -fno-strict-aliasing -fno-math-errno -fvisibility=hidden -c "
           "all.cpp -o code.o") ||
      !run("-shared code.o -o code.so"))
    return false;
  program.code = read(folder / "code.so");
  return true;
}

Program *of(void *program) { return static_cast<Program *>(program); }

int give(const std::string &text, char *to) {
  std::memcpy(to, text.c_str(), text.size());
  return 0;
}

} // namespace

extern "C" {

int nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = 0;
  return 0;
}

const char *nvrtcGetErrorString(int) { return "see the log"; }

int nvrtcCreateProgram(void **program, const char *text, const char *, int,
                       const char *const *, const char *const *) {
  *program = new Program{text, {}, {}};
  return 0;
}

int nvrtcDestroyProgram(void **program) {
  delete of(*program);
  *program = nullptr;
  return 0;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  constexpr int compilation = 6;
  return compile(*of(program), known(count, options)) ? 0 : compilation;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes) {
  *bytes = of(program)->code.size();
  return 0;
}
int nvrtcGetCUBIN(void *program, char *to) {
  return give(of(program)->code, to);
}
int nvrtcGetProgramLogSize(void *program, size_t *bytes) {
  *bytes = of(program)->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void *program, char *to) {
  to[of(program)->log.size()] = '\0';
  return give(of(program)->log, to);
}
int nvrtcGetPTXSize(void *, size_t *bytes) {
  *bytes = 0;
  return 0;
}
int nvrtcGetPTX(void *, char *) { return 0; }

} // extern "C"
