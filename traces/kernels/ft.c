/* ft: a diffusion equation on a periodic box by three-dimensional Fourier transforms, the NAS Parallel Benchmark FT.
 * Source: D. Bailey et al., "The NAS Parallel Benchmarks" (RNR-94-007), sections 2.3 (the random numbers) and 3.5; the loops and
 * who works on which plane follow NPB 3.3-OMP: transforms along x and y share out planes of z, those along z planes of y, each
 * for 32 lines at a time that are copied into two private arrays and back. Written anew; the lines are transformed by Stockham's
 * self-sorting algorithm of radix 2.
 *   U = transform of random numbers; each iteration: U = U exp(-4 alpha pi^2 |k|^2), alpha = 1e-6; inverse transform; checksum of
 *   1024 points.
 * NPB's untimed warm-up is left out, but for its zeroing of the arrays, which touches them first as NPB does.
 * Array bytes: nx * ny * nz * (16 + 16 + 8): two complex arrays and the factors; pad=1 adds NPB's unused column to each row.
 * Self-check: the checksum of every iteration is the one that NPB publishes for the class, within 1e-12, relatively.
 */
#include "ft_lines.h"

#include <math.h>

enum { LONGEST = 512, CHECKED_POINTS = 1024, MOST_ITERATIONS = 20 };

struct complex_number {
  double re, im;
};

struct box {
  int64_t nx, ny, nz, row; /* points, and points from row to row */
};

struct class_of_problem {
  int64_t nx, ny, nz, iterations;
  struct complex_number published[MOST_ITERATIONS];
};

static const struct class_of_problem classes[] = {
    {64,
     64,
     64,
     6,
     {{5.546087004964e+02, 4.845363331978e+02},
      {5.546385409189e+02, 4.865304269511e+02},
      {5.546148406171e+02, 4.883910722336e+02},
      {5.545423607415e+02, 4.901273169046e+02},
      {5.544255039624e+02, 4.917475857993e+02},
      {5.542683411902e+02, 4.932597244941e+02}}},
    {128,
     128,
     32,
     6,
     {{5.673612178944e+02, 5.293246849175e+02},
      {5.631436885271e+02, 5.282149986629e+02},
      {5.594024089970e+02, 5.270996558037e+02},
      {5.560698047020e+02, 5.260027904925e+02},
      {5.530898991250e+02, 5.249400845633e+02},
      {5.504159734538e+02, 5.239212247086e+02}}},
    {256,
     256,
     128,
     6,
     {{5.046735008193e+02, 5.114047905510e+02},
      {5.059412319734e+02, 5.098809666433e+02},
      {5.069376896287e+02, 5.098144042213e+02},
      {5.077892868474e+02, 5.101336130759e+02},
      {5.085233095391e+02, 5.104914655194e+02},
      {5.091487099959e+02, 5.107917842803e+02}}},
    {512, 256, 256, 20, {{5.177643571579e+02, 5.077803458597e+02}, {5.154521291263e+02, 5.088249431599e+02},
                         {5.146409228649e+02, 5.096208912659e+02}, {5.142378756213e+02, 5.101023387619e+02},
                         {5.139626667737e+02, 5.103976610617e+02}, {5.137423460082e+02, 5.105948019802e+02},
                         {5.135547056878e+02, 5.107404165783e+02}, {5.133910925466e+02, 5.108576573661e+02},
                         {5.132470705390e+02, 5.109577278523e+02}, {5.131197729984e+02, 5.110460304483e+02},
                         {5.130070319283e+02, 5.111252433800e+02}, {5.129070537032e+02, 5.111968077718e+02},
                         {5.128182883502e+02, 5.112616233064e+02}, {5.127393733383e+02, 5.113203605551e+02},
                         {5.126691062020e+02, 5.113735928093e+02}, {5.126064276004e+02, 5.114218460548e+02},
                         {5.125504076570e+02, 5.114656139760e+02}, {5.125002331720e+02, 5.115053595966e+02},
                         {5.124551951846e+02, 5.115415130407e+02}, {5.124146770029e+02, 5.115744692211e+02}}},
    {512, 512, 512, 20, {{5.195078707457e+02, 5.149019699238e+02}, {5.155422171134e+02, 5.127578201997e+02},
                         {5.144678022222e+02, 5.122251847514e+02}, {5.140150594328e+02, 5.121090289018e+02},
                         {5.137550426810e+02, 5.121143685824e+02}, {5.135811056728e+02, 5.121496764568e+02},
                         {5.134569343165e+02, 5.121870921893e+02}, {5.133651975661e+02, 5.122193250322e+02},
                         {5.132955192805e+02, 5.122454735794e+02}, {5.132410471738e+02, 5.122663649603e+02},
                         {5.131971141679e+02, 5.122830879827e+02}, {5.131605205716e+02, 5.122965869718e+02},
                         {5.131290734194e+02, 5.123075927445e+02}, {5.131012720314e+02, 5.123166486553e+02},
                         {5.130760908195e+02, 5.123241541685e+02}, {5.130528295923e+02, 5.123304037599e+02},
                         {5.130310107773e+02, 5.123356167976e+02}, {5.130103090133e+02, 5.123399592211e+02},
                         {5.129905029333e+02, 5.123435588985e+02}, {5.129714421109e+02, 5.123465164008e+02}}}};

/* x * 5^(13 steps) modulo 2^46: the state of NPB's generator `steps` steps after x. */
KERNEL_UNTRACED static uint64_t random_state(uint64_t x, uint64_t steps) {
  for (uint64_t factor = 1220703125u; steps; steps >>= 1, factor *= factor)
    if (steps & 1) x *= factor;
  return x & (((uint64_t)1 << 46) - 1);
}

KERNEL_UNTRACED static double root_real(int64_t p, int64_t half) { return cos(acos(-1.0) * (double)p / (double)half); }
KERNEL_UNTRACED static double root_imaginary(int64_t p, int64_t half) { return sin(acos(-1.0) * (double)p / (double)half); }
KERNEL_UNTRACED static double decay(int64_t square) { return exp(-4e-6 * acos(-1.0) * acos(-1.0) * (double)square); }

/* First touch, plane by plane. */
static void zero(struct box box, struct complex_number* u, struct complex_number* w, double* factor) {
  const int64_t ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("zero");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k)
    for (int64_t point = k * ny * stride; point < (k + 1) * ny * stride; ++point) {
      u[point] = (struct complex_number){0.0, 0.0};
      w[point] = (struct complex_number){0.0, 0.0};
      factor[point] = 0.0;
    }
  kernel_time("zero", begin);
}

/* exp(-4 alpha pi^2 |k|^2), with wave numbers from -n/2 to n/2 - 1. */
static void decay_factors(struct box box, double* factor) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("factors");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k) {
    const int64_t wave_z = k < nz / 2 ? k : k - nz;
    for (int64_t j = 0; j < ny; ++j) {
      const int64_t wave_y = j < ny / 2 ? j : j - ny;
      double* row = factor + (k * ny + j) * stride;
      for (int64_t i = 0; i < nx; ++i) {
        const int64_t wave_x = i < nx / 2 ? i : i - nx;
        row[i] = decay(wave_x * wave_x + wave_y * wave_y + wave_z * wave_z);
      }
    }
  }
  kernel_time("factors", begin);
}

/* Random numbers in (0, 1), real and imaginary parts in turn, rows along x in the order of memory. */
static void random_field(struct box box, struct complex_number* u) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("random");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k) {
    const uint64_t mask = ((uint64_t)1 << 46) - 1;
    uint64_t state = random_state(314159265u, (uint64_t)(2 * k * ny * nx));
    for (int64_t j = 0; j < ny; ++j) {
      struct complex_number* row = u + (k * ny + j) * stride;
      for (int64_t i = 0; i < nx; ++i) {
        state = state * 1220703125u & mask;
        row[i].re = (double)state * 0x1p-46;
        state = state * 1220703125u & mask;
        row[i].im = (double)state * 0x1p-46;
      }
    }
  }
  kernel_time("random", begin);
}

/* root[half + p] = exp(i pi p / half) for half = 1, 2, 4 ... and p < half. */
static void make_roots(struct complex_number* root, int64_t longest) {
  const double begin = KERNEL_REGION("roots");
  for (int64_t half = 1; half < longest; half *= 2)
    for (int64_t p = 0; p < half; ++p) root[half + p] = (struct complex_number){root_real(p, half), root_imaginary(p, half)};
  kernel_time("roots", begin);
}

/* One step of Stockham's transform of LINES lines: `half` butterflies between sequences of `stride` elements. */
KERNEL_INLINE static void butterflies(const struct complex_number* restrict from, struct complex_number* restrict to,
                                      const struct complex_number* restrict root, int64_t half, int64_t stride, double sign) {
  for (int64_t p = 0; p < half; ++p) {
    const double re = root[half + p].re, im = sign * root[half + p].im;
    for (int64_t q = 0; q < stride; ++q) {
      const struct complex_number* a = from + (q + stride * p) * LINE_STRIDE;
      const struct complex_number* b = from + (q + stride * (p + half)) * LINE_STRIDE;
      struct complex_number* sum = to + (q + stride * 2 * p) * LINE_STRIDE;
      struct complex_number* difference = to + (q + stride * (2 * p + 1)) * LINE_STRIDE;
      for (int64_t line = 0; line < LINES; ++line) {
        const double a_re = a[line].re, a_im = a[line].im, b_re = b[line].re, b_im = b[line].im;
        sum[line].re = a_re + b_re;
        sum[line].im = a_im + b_im;
        difference[line].re = re * (a_re - b_re) - im * (a_im - b_im);
        difference[line].im = re * (a_im - b_im) + im * (a_re - b_re);
      }
    }
  }
}

/* Transforms LINES lines of n points, in place or not: point p of line l is at offset p * point + l * line. */
KERNEL_INLINE static void transform_lines(const struct complex_number* from, struct complex_number* to, int64_t n, int64_t point,
                                          int64_t line, const struct complex_number* root, double sign) {
  struct complex_number of_one[LONGEST * LINE_STRIDE], of_other[LONGEST * LINE_STRIDE];
  struct complex_number *one = kernel_opaque(of_one), *other = kernel_opaque(of_other);
  for (int64_t p = 0; p < n; ++p)
    for (int64_t l = 0; l < LINES; ++l) one[p * LINE_STRIDE + l] = from[p * point + l * line];
  int in_one = 1;
  for (int64_t half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    if (in_one)
      butterflies(one, other, root, half, stride, sign);
    else
      butterflies(other, one, root, half, stride, sign);
    in_one = !in_one;
  }
  const struct complex_number* done = in_one ? one : other;
  for (int64_t p = 0; p < n; ++p)
    for (int64_t l = 0; l < LINES; ++l) to[p * point + l * line] = done[p * LINE_STRIDE + l];
}

static void transform_x(struct box box, struct complex_number* u, const struct complex_number* root, double sign) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("transform_x");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k)
    for (int64_t j = 0; j < ny; j += LINES)
      transform_lines(u + (k * ny + j) * stride, u + (k * ny + j) * stride, nx, 1, stride, root, sign);
  kernel_time("transform_x", begin);
}

static void transform_y(struct box box, struct complex_number* u, const struct complex_number* root, double sign) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("transform_y");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k)
    for (int64_t i = 0; i < nx; i += LINES) transform_lines(u + k * ny * stride + i, u + k * ny * stride + i, ny, stride, 1, root, sign);
  kernel_time("transform_y", begin);
}

static void transform_z(struct box box, const struct complex_number* from, struct complex_number* to, const struct complex_number* root,
                        double sign) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("transform_z");
#pragma omp parallel for schedule(static)
  for (int64_t j = 0; j < ny; ++j)
    for (int64_t i = 0; i < nx; i += LINES) transform_lines(from + j * stride + i, to + j * stride + i, nz, ny * stride, 1, root, sign);
  kernel_time("transform_z", begin);
}

/* u = u * factor, and w is a copy of it. */
static void evolve(struct box box, struct complex_number* restrict u, struct complex_number* restrict w, const double* restrict factor) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  const double begin = KERNEL_REGION("evolve");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k)
    for (int64_t j = 0; j < ny; ++j)
      for (int64_t point = (k * ny + j) * stride; point < (k * ny + j) * stride + nx; ++point) {
        const double by = factor[point], re = u[point].re * by, im = u[point].im * by;
        u[point] = (struct complex_number){re, im};
        w[point] = (struct complex_number){re, im};
      }
  kernel_time("evolve", begin);
}

static struct complex_number checksum(struct box box, const struct complex_number* w) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz, stride = box.row;
  double re = 0, im = 0;
  const double begin = KERNEL_REGION("checksum");
#pragma omp parallel for schedule(static) reduction(+ : re, im)
  for (int64_t j = 1; j <= CHECKED_POINTS; ++j) {
    const struct complex_number* point = w + (5 * j % nz * ny + 3 * j % ny) * stride + j % nx;
    re += point->re;
    im += point->im;
  }
  kernel_time("checksum", begin);
  const double points = (double)(nx * ny * nz);
  return (struct complex_number){re / points, im / points};
}

KERNEL_UNTRACED static int is_published(struct complex_number found, struct complex_number published) {
  return hypot(found.re - published.re, found.im - published.im) <= 1e-12 * hypot(published.re, published.im);
}

int main(int argc, char** argv) {
  enum { CLASS, ITERATIONS, PAD, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {
      {"class", 0, 0, 0, "S|W|A|B|C"}, {"iterations", 0, 0, MOST_ITERATIONS, NULL}, {"pad", 0, 0, 1, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "ft", p, COUNT);
  const struct class_of_problem* problem = &classes[p[CLASS].value];
  kernel_require(p[ITERATIONS].value <= problem->iterations, "ft", "'iterations' is at most what the class has: 6 for S, W and A");
  const int64_t iterations = p[ITERATIONS].value ? p[ITERATIONS].value : problem->iterations;
  const struct box box = {problem->nx, problem->ny, problem->nz, problem->nx + p[PAD].value};
  const size_t points = (size_t)(box.row * box.ny * box.nz);
  struct complex_number* u = kernel_allocate("ft", points, sizeof(struct complex_number));
  struct complex_number* w = kernel_allocate("ft", points, sizeof(struct complex_number));
  double* factor = kernel_allocate("ft", points, sizeof(double));
  struct complex_number* root = kernel_allocate("ft", LONGEST, sizeof(struct complex_number));

  zero(box, u, w, factor);
  decay_factors(box, factor);
  random_field(box, w);
  make_roots(root, LONGEST);
  transform_x(box, w, root, 1.0);
  transform_y(box, w, root, 1.0);
  transform_z(box, w, u, root, 1.0);
  int64_t wrong = 0;
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    HOMENODE_STEP(iteration);
    evolve(box, u, w, factor);
    transform_z(box, w, w, root, -1.0);
    transform_y(box, w, root, -1.0);
    transform_x(box, w, root, -1.0);
    wrong += !is_published(checksum(box, w), problem->published[iteration]);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("ft", wrong, "checksums are not NPB's published ones") : 0;
  free(u);
  free(w);
  free(factor);
  free(root);
  return code;
}
