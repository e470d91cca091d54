/*===- main.c - two models in one program ---------------------------------===//
//
// usage: two-models ROWS FIRST_IN FIRST_OUT SECOND_IN SECOND_OUT
//
// Both sessions are open at a time, and run one after the other, twice.
//
//===----------------------------------------------------------------------===*/

#include <libfirst.h>
#include <libsecond-net.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what) {
  fprintf(stderr, "error: %s: %s\n", what, mn_error());
  return 1;
}

static int infer(mn_session *session, size_t rows, const char *from,
                 const char *to) {
  mn_tensor in, out;
  if (mn_input(session, 0, 0, &in) != MN_OK ||
      mn_output(session, 0, 0, &out) != MN_OK)
    return fail("tensors");
  void *inputs = malloc(rows * in.row_bytes);
  void *outputs = malloc(rows * out.row_bytes);
  FILE *file = fopen(from, "rb");
  if (!file || fread(inputs, in.row_bytes, rows, file) != rows)
    return fail(from);
  fclose(file);
  const mn_const_buffer source = {in.name, inputs, rows * in.row_bytes};
  const mn_buffer result = {out.name, outputs, rows * out.row_bytes};
  if (mn_infer(session, (int64_t)rows, &source, 1, &result, 1) != MN_OK)
    return fail(mn_model_name(session));
  file = fopen(to, "wb");
  if (!file || fwrite(outputs, out.row_bytes, rows, file) != rows)
    return fail(to);
  fclose(file);
  free(inputs);
  free(outputs);
  return 0;
}

int main(int argc, char **argv) {
  mn_session *first, *second;
  if (argc != 6 || mn_open(first_model(), NULL, &first) != MN_OK ||
      mn_open(second_model(), NULL, &second) != MN_OK)
    return fail("open");
  printf("%s, %s\n", mn_model_name(first), mn_model_name(second));
  const size_t rows = strtoul(argv[1], NULL, 10);
  for (int i = 0; i < 2; ++i)
    if (infer(first, rows, argv[2], argv[3]) ||
        infer(second, rows, argv[4], argv[5]))
      return 1;
  return mn_close(first) != MN_OK || mn_close(second) != MN_OK;
}
