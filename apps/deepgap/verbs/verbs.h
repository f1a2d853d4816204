// The verbs, each in a file of its subject. commands.cpp puts them in order.
#pragma once

#include "command.h"

namespace deepgap::app {

const CommandSpec& run_command();
const CommandSpec& list_command();
const CommandSpec& show_command();
const CommandSpec& export_command();
const CommandSpec& import_command();
const CommandSpec& merge_command();
const CommandSpec& trace_command();
const CommandSpec& engines_command();
const CommandSpec& models_command();
const CommandSpec& devices_command();
const CommandSpec& formats_command();

}  // namespace deepgap::app
