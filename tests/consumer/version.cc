// Does the installed library say the version that its CMake package says?
#include <lattice/version.h>

#include <cstring>

int main(int argc, char** argv) {
  return argc == 2 && std::strcmp(lattice::version(), argv[1]) == 0 ? 0 : 1;
}
