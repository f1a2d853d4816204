/* The C interface as a worker in C sees it: compiled as C, linked with the shared library. Exit code 0 is
 * passed. */
#include "run/worker_loop_c.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

typedef struct state {
  long calls;
  long fail_at; /* -1: never */
  int queue[8];
  int queued;
} state;

static int count_call(void* context) {
  state* self = context;
  if (self->calls == self->fail_at) return 42;
  ++self->calls;
  return 0;
}

static int enqueue(void* context, int slot) {
  state* self = context;
  self->queue[self->queued++] = slot;
  return count_call(context);
}

static int wait_any(void* context, int* slot, int64_t* completed_at_ns) {
  state* self = context;
  *slot = self->queue[0];
  memmove(self->queue, self->queue + 1, sizeof(int) * (size_t)(--self->queued));
  *completed_at_ns = deepgap_now_ns();
  return 0;
}

static void only_device_time(void* context, int slot, int64_t* enqueue_ns, int64_t* device_ns) {
  (void)context;
  (void)slot;
  (void)enqueue_ns;
  *device_ns = 5;
}

static int stop_at_once(void* context, const deepgap_progress* progress) {
  ++*(int*)context;
  EXPECT(strcmp(progress->phase, "warmup") == 0 || strcmp(progress->phase, "measure") == 0);
  return 0;
}

static deepgap_measure_options fixed_options(int64_t count) {
  deepgap_measure_options options;
  deepgap_measure_options_init(&options, sizeof options);
  options.warmup_fixed_calls = 10;
  options.fixed_count = count;
  options.time_limit_ns = INT64_C(3600000000000);
  return options;
}

static void measures_latency(void) {
  state self = {0, -1, {0}, 0};
  deepgap_engine engine = {sizeof engine, &self, count_call, NULL, NULL, only_device_time};
  deepgap_measure_options options = fixed_options(100);
  deepgap_measurement result = {0};
  size_t i;
  result.struct_size = sizeof result;
  EXPECT(deepgap_measure(&engine, &options, NULL, NULL, &result) == 0);
  EXPECT(self.calls == 110);
  EXPECT(result.count == 100);
  EXPECT(result.warmup_calls == 10);
  EXPECT(result.first_call_ns >= 0);
  EXPECT(result.window_ns == DEEPGAP_UNKNOWN);
  EXPECT(strcmp(result.stop_reason, "fixed_count") == 0);
  EXPECT(result.enqueue_ns == NULL);
  EXPECT(result.device_ns != NULL && result.device_ns[99] == 5);
  for (i = 1; i < result.count; ++i)
    EXPECT(result.start_ns[i] >= result.start_ns[i - 1] + result.host_ns[i - 1]);
  deepgap_measurement_free(&result);
  EXPECT(result.host_ns == NULL);
  deepgap_measurement_free(&result); /* a second time does no harm */
}

static void measures_throughput(void) {
  state self = {0, -1, {0}, 0};
  deepgap_engine engine = {sizeof engine, &self, count_call, enqueue, wait_any, NULL};
  deepgap_measure_options options = fixed_options(99);
  deepgap_measurement result = {0};
  result.struct_size = sizeof result;
  options.mode = DEEPGAP_THROUGHPUT;
  options.in_flight = 4;
  EXPECT(deepgap_measure(&engine, &options, NULL, NULL, &result) == 0);
  EXPECT(result.completed == 100); /* rounded up to a multiple of 4 */
  EXPECT(result.window_ns > 0);
  EXPECT(self.queued == 0);
  deepgap_measurement_free(&result);
}

static void fails_as_it_should(void) {
  state self = {0, 50, {0}, 0};
  deepgap_engine engine = {sizeof engine, &self, count_call, NULL, NULL, NULL};
  deepgap_measure_options options = fixed_options(100);
  deepgap_measurement result = {0};
  int notices = 0;
  result.struct_size = sizeof result;
  EXPECT(deepgap_measure(&engine, &options, NULL, NULL, &result) == 42); /* the engine's own number */
  options.mode = DEEPGAP_THROUGHPUT;
  EXPECT(deepgap_measure(&engine, &options, NULL, NULL, &result) == DEEPGAP_REFUSED);
  EXPECT(strstr(deepgap_last_error(), "enqueue and wait_any") != NULL);
  options = fixed_options(100);
  options.struct_size = 8;
  EXPECT(deepgap_measure(&engine, &options, NULL, NULL, &result) == DEEPGAP_REFUSED);
  EXPECT(deepgap_measure(NULL, &options, NULL, NULL, &result) == DEEPGAP_REFUSED);

  self.fail_at = -1;
  options = fixed_options(INT64_C(100000000000));
  EXPECT(deepgap_measure(&engine, &options, stop_at_once, &notices, &result) == 0);
  EXPECT(strcmp(result.stop_reason, "cancelled") == 0);
  EXPECT(notices == 1);
  deepgap_measurement_free(&result);
}

int main(void) {
  measures_latency();
  measures_throughput();
  fails_as_it_should();
  return failures == 0 ? 0 : 1;
}
