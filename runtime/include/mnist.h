/*===- mnist.h - a compiled model in your own program -------------*- C -*-===//
//
// Compile a model into a library (mnistc MODEL.onnx -o libmodel.so, or .a) and
// link it. One library holds one model; a program that wants several loads
// them with dlopen and looks these functions up in each.
//
//     mn_session *session;
//     if (mn_open(NULL, &session) != MN_OK)
//       fprintf(stderr, "%s\n", mn_error(NULL));
//     const void *inputs[] = {images};
//     void *outputs[] = {scores};
//     if (mn_infer(session, rows, inputs, outputs) != MN_OK)
//       fprintf(stderr, "%s\n", mn_error(session));
//     mn_close(session);
//
// Threads: a session belongs to one thread at a time; different sessions do not
// know of each other. No function throws, prints or ends the process, with one
// exception: a library that fails in the middle of a step, which it was asked
// for when it was opened.
//
// OpenMP, of libraries for the CPU: results do not depend on how many threads
// it grants, which any call may ask for, also from inside of a parallel region.
// Its settings and the environment stay the host's. Idle threads spin before
// they sleep; where others want the cores, start the host with
// OMP_WAIT_POLICY=passive.
//
//===----------------------------------------------------------------------===*/

#ifndef MNIST_H
#define MNIST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MN_API __attribute__((visibility("default")))
#else
#define MN_API
#endif

/* Raised when a function is added (minor) or changed (major). */
#define MN_VERSION_MAJOR 1
#define MN_VERSION_MINOR 0

/* The version of the library that is linked: major * 1000 + minor. */
MN_API int mn_version(void);

typedef enum mn_status {
  MN_OK = 0,
  MN_USAGE = 2,       /* an argument is out of range */
  MN_NO_DEVICE = 10,  /* no usable GPU or driver */
  MN_WRONG_ARCH = 11, /* built for another GPU or CPU */
  MN_NO_LIBRARY = 12, /* a library is missing or has the wrong version */
  MN_OUT_OF_MEMORY = 13,
  MN_BAD_DATA = 14,
  MN_NUMERIC = 15
} mn_status;

/* "out of memory", for a status. */
MN_API const char *mn_status_name(mn_status status);

typedef enum mn_type { MN_F32, MN_F64, MN_I32, MN_I64, MN_BOOL, MN_U8 } mn_type;

/* An input or output. Valid for as long as the library is loaded. */
typedef struct mn_tensor {
  const char *name; /* the ONNX tensor's */
  mn_type type;
  int rank;
  const int64_t *shape; /* in the plan that was asked for */
  size_t row_bytes;     /* of one row, or of all where not batched */
  int batched;          /* whether the first dimension counts rows */
} mn_tensor;

typedef struct mn_options {
  size_t size;  /* sizeof(mn_options), so that it may grow */
  int device;   /* number of the GPU */
  int no_graph; /* launch kernels one by one, not as a graph */
} mn_options;

typedef struct mn_session mn_session;

/* Checks that the model can run here and allocates all memory. `options` may be
   NULL. On failure *session is NULL, and mn_error(NULL) says why. */
MN_API mn_status mn_open(const mn_options *options, mn_session **session);

/* Frees everything; NULL is allowed. */
MN_API void mn_close(mn_session *session);

/* The message of the last call that failed, for a session, or with NULL for
   mn_open on this thread. Valid until the next call. Never NULL. */
MN_API const char *mn_error(const mn_session *session);

/* The model has a plan for each batch size that it was compiled with. */
MN_API int mn_plan_count(const mn_session *session);
MN_API int64_t mn_plan_batch(const mn_session *session, int plan);

MN_API int mn_input_count(const mn_session *session);
MN_API int mn_output_count(const mn_session *session);
MN_API mn_status mn_input(mn_session *session, int plan, int number,
                          mn_tensor *tensor);
MN_API mn_status mn_output(mn_session *session, int plan, int number,
                           mn_tensor *tensor);

/* The name of the model, of the device, and the bytes allocated on it. */
MN_API const char *mn_model_name(const mn_session *session);
MN_API const char *mn_device_name(const mn_session *session);
MN_API size_t mn_device_bytes(const mn_session *session);

/* Infers any number of rows: `inputs` and `outputs` are one pointer for each
   input and output, row-major, in the order of the model. The plans are chosen
   so that few rows are computed in vain. Where an input or output is not
   batched, it is read or written whole. */
MN_API mn_status mn_infer(mn_session *session, int64_t rows,
                          const void *const *inputs, void *const *outputs);

/* Without copies: memory that the device reads from and writes to (pinned, for
   a GPU), in two slots, 0 and 1, of each plan. Fill mn_input_data, mn_submit,
   mn_wait, read mn_output_data; meanwhile the other slot may be filled. NULL
   where an argument is out of range or there is no memory. */
MN_API void *mn_input_data(mn_session *session, int plan, int number, int slot);
MN_API const void *mn_output_data(mn_session *session, int plan, int number,
                                  int slot);
MN_API mn_status mn_submit(mn_session *session, int plan, int slot);
MN_API mn_status mn_wait(mn_session *session, int slot);

#ifdef __cplusplus
}
#endif

#endif /* MNIST_H */
