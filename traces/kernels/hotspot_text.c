/* hotspot_text: hotspot as a whole process runs it, with its input and output as text.
 * Source: S. Che et al., Rodinia (IISWC 2009), HotSpot in its OpenMP version; what is read and written was looked up in Rodinia's
 * openmp/hotspot/hotspot_openmp.cpp (yuhc/gpu-rodinia). Written anew on hotspot's stencil:
 *   one thread reads a line for each cell, by fgets and sscanf: first all temperatures, then all power values;
 *   in the end one thread writes a line for each cell, its number and temperature, by sprintf and fputs (output=1).
 * So the reader touches temperature and power first. The texts are made beforehand, from hotspot's formula, by code that no trace
 * shows; they and the output are temporary files without a name.
 * Self-check: hotspot's, and every value read is the one that the formula wrote.
 */
#define main hotspot_main
#include "hotspot.c" /* NOLINT(bugprone-suspicious-include): the chip, the stencil, its self-check */
#undef main

enum { LONGEST_LINE = 256 };

KERNEL_UNTRACED static FILE* temporary_file(void) {
  FILE* file = tmpfile();
  kernel_require(file != NULL, "hotspot_text", "no temporary file can be made");
  return file;
}

/* hotspot's initial values, as texts; nine digits tell any two numbers of single precision apart. */
KERNEL_UNTRACED static void make_texts(FILE* temperatures, FILE* powers, int64_t size) {
  for (uint64_t cell = 0; cell < (uint64_t)(size * size); ++cell) {
    fprintf(temperatures, "%.9g\n", (double)(20.0f + (float)(cell * 2654435761u % 2048u) * (13.0f / 256.0f)));
    fprintf(powers, "%.9g\n", (double)((float)(cell * 40503u % 1024u) * 1e-6f));
  }
  rewind(temperatures);
  rewind(powers);
}

/* Cells that do not hold what the formula says. */
KERNEL_UNTRACED static int64_t misread_cells(const float* temperature, const float* power, int64_t size) {
  const int64_t blocks = (size / BLOCK) * (size / BLOCK);
  const size_t cells = (size_t)size * (size_t)size;
  float* expected = kernel_allocate("hotspot_text", 2 * cells, sizeof(float));
  int64_t wrong = 0;
  for (int64_t block = 0; block < blocks; ++block) initialise_block(expected, expected + cells, size, block);
  for (size_t cell = 0; cell < cells; ++cell) wrong += temperature[cell] != expected[cell] || power[cell] != expected[cells + cell];
  free(expected);
  return wrong;
}

static void read_text(FILE* file, float* values, int64_t cells) {
  char line[LONGEST_LINE];
  for (int64_t cell = 0; cell < cells; ++cell) {
    float value = 0;
    if (!fgets(line, sizeof line, file) || sscanf(line, "%f", &value) != 1) return; /* the self-check misses the rest */
    values[cell] = value;
  }
}

static void write_text(FILE* file, const float* values, int64_t cells) {
  char line[LONGEST_LINE];
  for (int64_t cell = 0; cell < cells; ++cell) {
    sprintf(line, "%lld\t%g\n", (long long)cell, (double)values[cell]);
    fputs(line, file);
  }
}

int main(int argc, char** argv) {
  enum { SIZE, STEPS, OUTPUT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {
      {"size", 64, 2 * BLOCK, 1 << 16, NULL}, {"steps", 2, 1, 1 << 20, NULL}, {"output", 1, 0, 1, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "hotspot_text", p, COUNT);
  const int64_t size = p[SIZE].value;
  kernel_require(size % BLOCK == 0, "hotspot_text", "'size' is a multiple of 16, the edge of Rodinia's blocks");
  const struct chip chip = chip_constants(size);
  const int64_t blocks = (size / BLOCK) * (size / BLOCK);
  const size_t cells = (size_t)size * (size_t)size;
  FILE *temperatures = temporary_file(), *powers = temporary_file(), *output = temporary_file();
  make_texts(temperatures, powers, size);
  float* temperature = kernel_allocate("hotspot_text", cells, sizeof(float));
  float* power = kernel_allocate("hotspot_text", cells, sizeof(float));
  float* result = kernel_allocate("hotspot_text", cells, sizeof(float));

  double begin = KERNEL_REGION("read");
  read_text(temperatures, temperature, (int64_t)cells);
  read_text(powers, power, (int64_t)cells);
  kernel_time("read", begin);
  const int64_t misread = p[CHECK].value ? misread_cells(temperature, power, size) : 0;

  for (int64_t step = 0; step < p[STEPS].value; ++step) {
    HOMENODE_STEP(step);
    const float factor = chip.step_per_capacity, row = chip.row, column = chip.column, package = chip.package;
    begin = KERNEL_REGION("sweep");
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; ++block)
      update_block(result, temperature, power, size, (struct chip){factor, row, column, package}, block);
    kernel_time("sweep", begin);
    float* swap = temperature;
    temperature = result;
    result = swap;
  }
  HOMENODE_STEP(-1);

  begin = KERNEL_REGION("write");
  if (p[OUTPUT].value) write_text(output, temperature, (int64_t)cells);
  kernel_time("write", begin);

  const int64_t wrong = p[CHECK].value ? misread + wrong_cells(temperature, result, power, size, chip) : 0;
  const int code = p[CHECK].value ? kernel_verdict("hotspot_text", wrong, "cells were misread or differ from the heat flows") : 0;
  fclose(temperatures);
  fclose(powers);
  fclose(output);
  free(temperature);
  free(power);
  free(result);
  return code;
}
