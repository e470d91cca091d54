//===- main.cpp - a compiled model as a program
//--------------------------------===//

#include "options.h"

int main(int argc, char **argv) {
  return mn::runCommandLine(mn_model, argc, argv);
}
