# mn_library and mn_executable: a target of ours, with our warnings.

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
