#include "libdigits.h"
#include <stdio.h>

static int fail(void) {
  fprintf(stderr, "error: %s\n", mn_error());
  return 1;
}

int main(void) {
  static float image[784], scores[10], images[32][784];
  static int32_t labels[32];
  mn_session *session;
  if (mn_open(digits_model(), NULL, &session) != MN_OK)
    return fail();

  /* One row, by position or by name. */
  mn_const_buffer input = {"input", image, sizeof image};
  mn_buffer output = {NULL, scores, sizeof scores};
  if (mn_infer(session, 1, &input, 1, &output, 1) != MN_OK)
    return fail();

  /* A class is the place of the bright stripe. */
  for (int row = 0; row < 32; ++row) {
    labels[row] = row % 10;
    for (int i = 0; i < 78; ++i)
      images[row][labels[row] * 78 + i] = 1;
  }
  mn_train_options options = {sizeof options};
  options.seed = 1;
  if (mn_train_start(session, &options) != MN_OK ||
      mn_train_set(session, "lr", 0.001) != MN_OK)
    return fail();
  mn_const_buffer rows = {NULL, images, sizeof images};
  mn_const_buffer targets = {NULL, labels, sizeof labels};
  for (int step = 0; step < 20; ++step)
    if (mn_train_step(session, 32, &rows, 1, &targets, NULL) != MN_OK)
      return fail();
  mn_metrics metrics;
  if (mn_evaluate(session, 32, &rows, 1, &targets, &metrics) != MN_OK ||
      mn_save(session, "trained.onnx") != MN_OK)
    return fail();
  printf("%d of %d right\n", (int)metrics.correct, (int)metrics.labels);
  return mn_close(session) != MN_OK;
}
