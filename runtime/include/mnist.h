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
// A library compiled with --train also trains, on rows that the caller gives
// (mn_train_start and what follows it), and memory of a GPU can be given where
// it is (mn_infer_on_device). <mnist.hpp> is the same for C++.
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
#define MN_VERSION_MINOR 1

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

/* The rest is of version 2.1: MN_NO_LIBRARY for a model compiled before. */

/* mn_infer of memory on the session's GPU: `data` are addresses there, and
   `stream` is the caller's CUstream or cudaStream_t, NULL the default one.
   Begins after what the stream has before, does not wait, and what the stream
   gets next begins after it; until then the memory must not be freed. Only
   inputs that are booleans or indices are read by the host, which waits for
   the stream: no kernel can refuse a number. MN_USAGE: a model for the CPU,
   memory that is not the GPU's, a stream of another GPU, or one that a graph is
   captured from. The first use of a plan prepares it, and waits. */
MN_API mn_status mn_infer_on_device(mn_session *session, int64_t rows,
                                    const mn_const_buffer *inputs,
                                    int input_count, const mn_buffer *outputs,
                                    int output_count, void *stream);

/* Training, of libraries compiled with --train: MN_USAGE of others. The same
   rows in the same order, from the same seed, give the same weights in each
   bit, and the same as `app train` makes of them. mn_infer uses the weights of
   the last step. */

/* Zeros are the defaults: mn_train_options options = {sizeof options}. */
typedef struct mn_train_options {
  size_t size;      /* sizeof(mn_train_options), so that it may grow */
  int64_t seed;     /* of dropout and of `init`; `app train` has 1 */
  int64_t batch;    /* which plan trains; 0: the largest */
  const char *init; /* he, xavier, torch, keras; NULL: the file's weights */
} mn_train_options;

/* What a number of rows came to. */
typedef struct mn_metrics {
  double loss;     /* the mean over all rows */
  int64_t rows;    /* that counted */
  int64_t labels;  /* of these rows; 0 where the model has no classes */
  int64_t correct; /* labels that the model would have chosen */
} mn_metrics;

/* Begins a training, also in the middle of another one: weights as `init` says,
   no step done, the optimizer's numbers as compiled. `options` may be NULL. */
MN_API mn_status mn_train_start(mn_session *session,
                                const mn_train_options *options);

/* How many rows a step takes at most; -1 before mn_train_start. */
MN_API int64_t mn_train_batch(mn_session *session);

/* What targets must be: MN_I32 for classes, MN_F32 for values. */
MN_API mn_status mn_train_target(mn_session *session, mn_tensor *tensor);

/* The numbers of the optimizer, by the names that `app train` has for them:
   "lr", "momentum", "weight-decay", "clip-norm" and so on. The name of number
   `number` from 0 on, NULL where there are no more; a value, and a new one from
   the next step on. */
MN_API const char *mn_train_number(mn_session *session, int number);
MN_API mn_status mn_train_get(mn_session *session, const char *name,
                              double *value);
MN_API mn_status mn_train_set(mn_session *session, const char *name,
                              double value);

/* One step on 1 to mn_train_batch rows; just as many where the model normalizes
   by the statistics of a batch. The memory is the caller's again at once.
   `loss` becomes the mean over the rows, for which a GPU is waited; NULL: it is
   not. MN_NUMERIC: a loss that is NaN or infinite, of this step or, where
   nobody asked, an earlier one; mn_train_start or mn_train_resume begins again.
 */
MN_API mn_status mn_train_step(mn_session *session, int64_t rows,
                               const mn_const_buffer *inputs, int input_count,
                               const mn_const_buffer *targets, double *loss);

/* The same of memory on the GPU, as for mn_infer_on_device. The host reads
   classes, which it checks, and nothing else. */
MN_API mn_status mn_train_step_on_device(mn_session *session, int64_t rows,
                                         const mn_const_buffer *inputs,
                                         int input_count,
                                         const mn_const_buffer *targets,
                                         void *stream, double *loss);

/* What the steps since mn_train_start or the last call came to, as of an epoch;
   all zeros where there were none. Waits for them. */
MN_API mn_status mn_train_metrics(mn_session *session, mn_metrics *metrics);

/* What the model makes of any number of rows; changes no weight. */
MN_API mn_status mn_evaluate(mn_session *session, int64_t rows,
                             const mn_const_buffer *inputs, int input_count,
                             const mn_const_buffer *targets,
                             mn_metrics *metrics);

/* Sixteen digits that two sessions share if their weights have the same bits,
   as `app train` prints them; and a 0 after them. */
MN_API mn_status mn_train_digest(mn_session *session, char digest[17]);

/* Writes the ONNX file that the model was made from, with the weights of now,
   whole or not at all. MN_NUMERIC: weights that are NaN or infinite. */
MN_API mn_status mn_save(mn_session *session, const char *path);

/* FOLDER/checkpoint.safetensors: all that mn_train_resume needs to continue
   with the same bits, in a process of its own: weights, the optimizer's states
   and numbers, seed and steps. The folder is made. mn_train_resume begins a
   training there instead of mn_train_start; `options` as there, of which only
   `batch` counts. */
MN_API mn_status mn_train_checkpoint(mn_session *session, const char *folder);
MN_API mn_status mn_train_resume(mn_session *session,
                                 const mn_train_options *options,
                                 const char *folder);

#ifdef __cplusplus
}
#endif

#endif /* MNIST_H */
