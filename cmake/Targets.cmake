# mn_library and mn_executable: a target of ours, with our warnings.
# mn_read_once(target header...): what takes longer to read than the files that
# include it.
# mn_precompile(target header...): what most of its files include, if wanted.

option(MNISTC_PRECOMPILE "Precompile headers: a build from nothing takes less \
time, and an include that is missing stays unseen" OFF)

# Nearly all files of the compiler include these.
set(MN_IR_HEADERS <lib/IR/Mnist/MnistOps.h> <lib/IR/Plan/PlanOps.h>
  <llvm/ADT/StringExtras.h> <llvm/ADT/TypeSwitch.h> <mlir/IR/PatternMatch.h>
  <mlir/IR/TypeUtilities.h>)

function(mn_target target)
  mn_warnings(${target})
  # Generated op classes have parameters that some ops do not need.
  target_compile_options(${target} PRIVATE -Wno-unused-parameter)
endfunction()

function(mn_library name)
  add_library(${name} STATIC ${ARGN})
  mn_target(${name})
endfunction()

function(mn_executable name)
  add_executable(${name} ${ARGN})
  mn_target(${name})
endfunction()

function(mn_read_once target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # So that ccache knows what is in them, and by content.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()

function(mn_precompile target)
  if(MNISTC_PRECOMPILE)
    mn_read_once(${target} ${ARGN})
  endif()
endfunction()
