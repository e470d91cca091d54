//===- options.cpp - which cases are run ----------------------------------===//

#include "options.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

bool test::parse(int count, char **arguments, Options &options) {
  for (int i = 0; i < count; ++i) {
    const std::string argument = arguments[i];
    auto &[index, parts] = options.part;
    if (argument.starts_with("--emulated="))
      options.most = std::atof(argument.c_str() + std::strlen("--emulated="));
    else if (argument.starts_with("--part=")) {
      if (std::sscanf(argument.c_str(), "--part=%zu/%zu", &index, &parts) !=
              2 ||
          index >= parts)
        return false;
    } else if (argument.starts_with("--") || !options.prefix.empty())
      return false;
    else
      options.prefix = argument;
  }
  return true;
}
