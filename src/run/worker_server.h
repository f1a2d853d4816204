// The worker's end of the protocol: a worker program in C++ is an Engine and this.
//
//   int main() {
//     MyEngine engine;
//     const Result<void> served = serve(engine);
//     if (!served.ok()) std::fprintf(stderr, "%s\n", served.error().message().c_str());
//     return served.ok() ? 0 : 70;
//   }
//
// It answers every verb of docs/worker-protocol.md in order, checks requests against what describe() says
// before the engine sees them (device, precision, model format, settings, settings fixed by the process,
// slots), and turns an exception of the engine into a failed verb.
#pragma once

#include "base/result.h"
#include "run/engine.h"

namespace deepgap::run {

inline constexpr int kRequestDescriptor = 3;
inline constexpr int kReplyDescriptor = 4;

// Until the requests end or `exit` was answered. An error: the requests could not be read or the replies not
// written, so nothing could be answered any more.
Result<void> serve(Engine& engine, int request_descriptor = kRequestDescriptor,
                   int reply_descriptor = kReplyDescriptor);

}  // namespace deepgap::run
