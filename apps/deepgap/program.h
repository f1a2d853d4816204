// The program around the verbs: parse, run, render, write, exit code. Nothing throws past it.
#pragma once

namespace deepgap::app {

int run_program(int argc, char** argv);

}  // namespace deepgap::app
