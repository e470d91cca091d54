//===- compiled_model.h - what mnist.h calls in a library -------*- C++ -*-===//
//
// The functions of mnist.h are in every library, and a process has them once:
// the linker takes those of the first. They find the session and call the
// library that opened it through this table, which is all that two libraries
// know of each other. It changes as mnist.h does: at its end with
// MN_VERSION_MINOR, anywhere with MN_VERSION_MAJOR.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_API_COMPILED_MODEL_H
#define MNISTRT_API_COMPILED_MODEL_H

#include "mnist.h"

namespace mn {

/// Why a call failed: without an allocation, which may fail too.
struct Message {
  char text[1024];
};

enum class Side { input, output };

} // namespace mn

/// What of mnist.h trains. No function throws.
struct mn_training_functions {
  mn_status (*start)(void *state, const mn_train_options &options,
                     const char *checkpoint, mn::Message &);
  mn_status (*batch)(void *state, int64_t &batch, mn::Message &);
  mn_status (*target)(void *state, mn_tensor &tensor, mn::Message &);
  mn_status (*number)(void *state, int number, const char *&name,
                      mn::Message &);
  mn_status (*get)(void *state, const char *name, double &value, mn::Message &);
  mn_status (*set)(void *state, const char *name, double value, mn::Message &);
  mn_status (*step)(void *state, int64_t rows, const mn_const_buffer *inputs,
                    int inputCount, const mn_const_buffer *targets,
                    double *loss, mn::Message &);
  mn_status (*stepOnDevice)(void *state, int64_t rows,
                            const mn_const_buffer *inputs, int inputCount,
                            const mn_const_buffer *targets, void *stream,
                            double *loss, mn::Message &);
  mn_status (*metrics)(void *state, mn_metrics &metrics, mn::Message &);
  mn_status (*evaluate)(void *state, int64_t rows,
                        const mn_const_buffer *inputs, int inputCount,
                        const mn_const_buffer *targets, mn_metrics &metrics,
                        mn::Message &);
  mn_status (*digest)(void *state, char *digest, mn::Message &);
  mn_status (*save)(void *state, const char *path, mn::Message &);
  mn_status (*checkpoint)(void *state, const char *folder, mn::Message &);
};

/// No function throws. One call at a time for each `state`.
struct mn_compiled_model {
  int version; ///< mn_version() of the library

  mn_status (*open)(const mn_options &options, void *&state, mn::Message &);
  void (*close)(void *state);

  int (*planCount)(void *state);
  int (*tensorCount)(void *state, mn::Side);
  const char *(*modelName)(void *state);
  const char *(*deviceName)(void *state);
  size_t (*deviceBytes)(void *state);

  mn_status (*planBatch)(void *state, int plan, int64_t &batch, mn::Message &);
  mn_status (*describe)(void *state, mn::Side, int plan, int number,
                        mn_tensor &tensor, mn::Message &);
  mn_status (*infer)(void *state, int64_t rows, const mn_const_buffer *inputs,
                     int inputCount, const mn_buffer *outputs, int outputCount,
                     mn::Message &);
  mn_status (*data)(void *state, mn::Side, int plan, int number, int slot,
                    const void *&data, mn::Message &);
  mn_status (*submit)(void *state, int plan, int slot, mn::Message &);
  mn_status (*wait)(void *state, int slot, mn::Message &);

  // Since version 2.1.
  mn_status (*inferOnDevice)(void *state, int64_t rows,
                             const mn_const_buffer *inputs, int inputCount,
                             const mn_buffer *outputs, int outputCount,
                             void *stream, mn::Message &);
  const mn_training_functions *training; ///< null: the model only infers
};

namespace mn {

/// This library's.
const mn_compiled_model *compiledModel();

} // namespace mn

#endif // MNISTRT_API_COMPILED_MODEL_H
