#include "program.h"

int main(int argc, char** argv) {
  return deepgap::app::run_program(argc, argv);
}
