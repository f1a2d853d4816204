/* The measuring loop for workers in other languages: libdeepgap_worker.so. Plain C types, no exceptions.
 *
 *   deepgap_engine engine = {sizeof engine, my_state, my_call, NULL, NULL, NULL};
 *   deepgap_measure_options options;
 *   deepgap_measure_options_init(&options, sizeof options);
 *   options.time_limit_ns = 6000000000;
 *   deepgap_measurement result = {sizeof result};
 *   if (deepgap_measure(&engine, &options, NULL, NULL, &result) == 0) {
 *     ... result.count, result.host_ns[i], result.stop_reason ...
 *     deepgap_measurement_free(&result);
 *   }
 *
 * Members are those of `measure` in docs/worker-protocol.md, where they are explained; run/worker_loop.h says
 * what is timed. Each struct begins with its size as its user was compiled, so that members may be added at
 * its end. Times are ns on CLOCK_MONOTONIC. One measuring at a time in a thread; threads do not disturb each
 * other. */
#ifndef DEEPGAP_RUN_WORKER_LOOP_C_H
#define DEEPGAP_RUN_WORKER_LOOP_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEEPGAP_UNKNOWN INT64_MIN /* a time or an amount that is not known, a limit that is not set */
#define DEEPGAP_REFUSED (-1) /* deepgap_measure(): the arguments are wrong; deepgap_last_error() says how */

#define DEEPGAP_LATENCY 0
#define DEEPGAP_THROUGHPUT 1

/* What makes the calls. Each function returns 0, or a positive number of its own, which ends the measuring
 * and which deepgap_measure() returns. */
typedef struct deepgap_engine {
  uint64_t struct_size;
  void* context; /* given to each function */
  /* One synchronous call. */
  int (*call)(void* context);
  /* Starts a call on a free slot (0 to in_flight - 1). NULL: latency mode only. */
  int (*enqueue)(void* context, int slot);
  /* Waits until one of the calls in flight has ended; *completed_at_ns stays 0 where the engine cannot stamp
   * it. */
  int (*wait_any)(void* context, int* slot, int64_t* completed_at_ns);
  /* Times of the last call that ended on a slot; what is not known stays DEEPGAP_UNKNOWN. NULL: no timers. */
  void (*times)(void* context, int slot, int64_t* enqueue_ns, int64_t* device_ns);
} deepgap_engine;

typedef struct deepgap_measure_options {
  uint64_t struct_size;
  int32_t mode; /* DEEPGAP_LATENCY or DEEPGAP_THROUGHPUT */
  int32_t in_flight;
  int32_t cold; /* 1: no call has been made since the load; the first is then timed apart */
  int32_t reserved;
  int64_t warmup_min_calls;
  int64_t warmup_min_ns;
  int64_t warmup_max_ns;
  int64_t warmup_fixed_calls; /* or DEEPGAP_UNKNOWN */
  double target;
  double confidence;
  int64_t min_samples;
  int64_t min_ns;
  int64_t time_limit_ns;
  int64_t max_samples;
  int64_t fixed_count; /* or DEEPGAP_UNKNOWN */
  int64_t start_at_ns; /* or DEEPGAP_UNKNOWN */
} deepgap_measure_options;

typedef struct deepgap_progress {
  const char* phase; /* "warmup", "measure" */
  int64_t calls;
  int64_t elapsed_ns;
  int64_t median_ns; /* or DEEPGAP_UNKNOWN */
  double width;      /* negative: not known yet */
} deepgap_progress;

/* Called between two calls, some 20 times a second: the place to send `progress` and to look for `cancel`.
 * 0 ends the measuring after the calls in flight; while those end, it is called on. */
typedef int (*deepgap_go_on)(void* context, const deepgap_progress* progress);

typedef struct deepgap_measurement {
  uint64_t struct_size;
  int64_t first_call_ns; /* or DEEPGAP_UNKNOWN */
  int64_t warmup_calls;
  int64_t warmup_ns;
  int32_t warmup_steady;
  int32_t reserved;
  const char* stop_reason; /* as in the protocol: "precision_reached", ...; never freed */
  int64_t window_ns;       /* or DEEPGAP_UNKNOWN */
  int64_t completed;
  int64_t started_monotonic_ns;
  int64_t started_realtime_ns;
  int64_t peak_process_bytes; /* or DEEPGAP_UNKNOWN */
  size_t count;               /* samples in each of the columns */
  const int64_t* start_ns;
  const int64_t* host_ns;
  const int64_t* enqueue_ns; /* NULL: not known */
  const int64_t* device_ns;  /* NULL: not known */
  void* owner;               /* of the columns */
} deepgap_measurement;

/* The defaults of the protocol's reference loop; `struct_size` is sizeof(deepgap_measure_options). */
void deepgap_measure_options_init(deepgap_measure_options* options, uint64_t struct_size);

/* `go_on` may be NULL. Returns 0 and fills `result` (its struct_size set before), DEEPGAP_REFUSED, or what a
 * function of the engine returned; the result is only to be freed after 0. */
int deepgap_measure(const deepgap_engine* engine, const deepgap_measure_options* options, deepgap_go_on go_on,
                    void* go_on_context, deepgap_measurement* result);
void deepgap_measurement_free(deepgap_measurement* result);

/* One sentence about the last call in this thread that returned DEEPGAP_REFUSED. */
const char* deepgap_last_error(void);

/* CLOCK_MONOTONIC, for engines that stamp completions themselves. */
int64_t deepgap_now_ns(void);

#ifdef __cplusplus
}
#endif

#endif
