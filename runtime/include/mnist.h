/*===- mnist.h - a compiled model in your own program -------------*- C -*-===//
//
// Compile a model into a library (mnistc MODEL.onnx -o libdigits.so, or .a) and
// link it; its header, libdigits.h, has all of this and declares the model:
//
//     mn_session *session;
//     if (mn_open(digits_model(), NULL, &session) != MN_OK)
//       fprintf(stderr, "%s\n", mn_error());
//     mn_const_buffer inputs[] = {{"image", images, rows * sizeof *images}};
//     mn_buffer outputs[] = {{"scores", scores, rows * sizeof *scores}};
//     if (mn_infer(session, rows, inputs, 1, outputs, 1) != MN_OK)
//       fprintf(stderr, "%s\n", mn_error());
//     mn_close(session);
//
// A program may link any number of such libraries, shared or static: each has
// a model with a different name, and the functions below serve all of them.
//
// Errors: a call that fails says why in mn_error and changes nothing else; the
// session can be used further. No function throws, prints or ends the process.
//
// Threads: any function may be called from any thread, and different sessions
// run at the same time. A session does one thing at a time: a call that finds
// another thread inside of it returns MN_BUSY at once.
//
// Fork: a child process cannot use the GPU or the threads of its parent. If the
// parent has called mn_open before fork(), every call in the child returns
// MN_USAGE, apart from mn_close, which forgets the session. Open sessions in
// the children.
//
// A session that was closed, or never opened, is detected. Undefined is what C
// cannot see: a pointer that is neither NULL nor valid, fewer bytes at a
// pointer than `bytes` says, memory that another thread writes meanwhile, use
// after dlclose, a call in a signal handler or in a child made by vfork() or a
// raw clone(). If the operating system refuses OpenMP a thread, OpenMP itself
// ends the process; `threads` = 1 needs none.
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
#define MN_VERSION_MAJOR 2
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
  MN_NUMERIC = 15,
  MN_BUSY = 20 /* another thread is using the session */
} mn_status;

/* "out of memory", for a status, known or not. Never NULL. */
MN_API const char *mn_status_name(int status);

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

/* Zeros are the defaults: mn_options options = {sizeof options}. */
typedef struct mn_options {
  size_t size;  /* sizeof(mn_options), so that it may grow */
  int device;   /* number of the GPU; 0 for a CPU */
  int no_graph; /* launch kernels one by one, not as a graph */
  int threads;  /* of a CPU; 0: as many as OpenMP gives the calling thread */
} mn_options;

/* What a library holds; its header declares a function that returns it. */
typedef struct mn_compiled_model mn_compiled_model;

typedef struct mn_session mn_session;

/* Checks that the model can run here and allocates all memory. `options` may be
   NULL. On failure *session is NULL. NVIDIA's libraries are opened by the first
   use of a plan that calls them, which is MN_NO_LIBRARY where they are missing.
   */
MN_API mn_status mn_open(const mn_compiled_model *model,
                         const mn_options *options, mn_session **session);

/* Frees everything; NULL is allowed. A second time is MN_USAGE; MN_BUSY leaves
   the session open. */
MN_API mn_status mn_close(mn_session *session);

/* Why the last call that failed on this thread did. Valid until the next one
   fails on this thread. Never NULL. */
MN_API const char *mn_error(void);

/* The model has a plan for each batch size that it was compiled with. A number
   is -1, a name NULL, and the bytes are 0, where the session cannot be used. */
MN_API int mn_plan_count(mn_session *session);
MN_API int64_t mn_plan_batch(mn_session *session, int plan);

MN_API int mn_input_count(mn_session *session);
MN_API int mn_output_count(mn_session *session);
MN_API mn_status mn_input(mn_session *session, int plan, int number,
                          mn_tensor *tensor);
MN_API mn_status mn_output(mn_session *session, int plan, int number,
                           mn_tensor *tensor);

/* The name of the model, of the device, valid until mn_close, and the bytes
   allocated on the device. */
MN_API const char *mn_model_name(mn_session *session);
MN_API const char *mn_device_name(mn_session *session);
MN_API size_t mn_device_bytes(mn_session *session);

/* The caller's memory for one input, and for one output. */
typedef struct mn_const_buffer {
  const char *name; /* the ONNX tensor's, or NULL: by position */
  const void *data;
  size_t bytes;
} mn_const_buffer;
typedef struct mn_buffer {
  const char *name;
  void *data;
  size_t bytes;
} mn_buffer;

/* Infers any number of rows, row-major, with a buffer for each input and output
   of the model: all named, in any order, or none, in the order of the model.
   `bytes` is row_bytes for each row, or once where a tensor is not batched. The
   plans are chosen so that few rows are computed in vain. */
MN_API mn_status mn_infer(mn_session *session, int64_t rows,
                          const mn_const_buffer *inputs, int input_count,
                          const mn_buffer *outputs, int output_count);

/* Without copies: memory that the device reads from and writes to (pinned, for
   a GPU), in two slots, 0 and 1, of each plan. Fill mn_input_data, mn_submit,
   mn_wait, read mn_output_data; meanwhile the other slot may be filled. NULL
   where an argument is out of range or there is no memory. MN_USAGE: to submit
   a slot twice before mn_wait, to wait for what was not submitted, and mn_infer
   before mn_wait. */
MN_API void *mn_input_data(mn_session *session, int plan, int number, int slot);
MN_API const void *mn_output_data(mn_session *session, int plan, int number,
                                  int slot);
MN_API mn_status mn_submit(mn_session *session, int plan, int slot);
MN_API mn_status mn_wait(mn_session *session, int slot);

#ifdef __cplusplus
}
#endif

#endif /* MNIST_H */
