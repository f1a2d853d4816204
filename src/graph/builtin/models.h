// The built-in models, one file each family. A new one is a file here, a declaration below and a line in
// catalogue.cpp.
#pragma once

#include "graph/builtin.h"

namespace deepgap::graph::builtin {

extern const BuiltinModel kResnet18;
extern const BuiltinModel kResnet50;
extern const BuiltinModel kResnet101;
extern const BuiltinModel kMobilenetV2;
extern const BuiltinModel kBertBase;

}  // namespace deepgap::graph::builtin
