/* Blocks, copies and shared variables that lie behind a closure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  const int n = argc + 7;
  double near[8] = {0}, far[64];
  memset(far, 0, sizeof far);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    near[i] = i;
    far[i] += near[i];
  }
  char* block = malloc(1000);
  memcpy(block, far, 512);
  block = realloc(block, 100000);
  char* text = strdup(argv[0]);
  printf("%g %c\n", near[3] + far[3], text[0] ? 'y' : 'n');
  free(text);
  free(block);
  return 0;
}
