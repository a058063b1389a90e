/* fdtd3d_messages: fdtd3d whose patches exchange their borders through buffers that are allocated in every step (messages.h).
 * Source: as fdtd3d's; S1 says of JEMS-FDTD neither how it exchanges borders nor what it allocates.
 * Both exchanges of a step have three regions each: "..._pack" allocates the buffers and fills them, "..._unpack" fills the ghost cells
 * from the neighbours' messages, "..._release" frees the buffers. The updates are fdtd3d's. Self-check: fdtd3d's.
 */
#define main fdtd3d_main
#include "fdtd3d.c" /* NOLINT(bugprone-suspicious-include): the patch, its updates, the self-check */
#undef main
#include "messages.h"

enum { TANGENTIAL = 2, OF_PATCH = DIRECTIONS * TANGENTIAL };

/* Where a field's borders lie within its blocks: E's ghost cells are ahead and are sent from the first plane; H's are behind and
 * are sent from the last. The component `c` of the plane across direction d is (d + 1 + c) % 3. */
struct borders {
  int64_t n, stride[DIRECTIONS];
  int magnetic;
};

KERNEL_INLINE static struct borders borders_of(int64_t n, int magnetic) {
  return (struct borders){n, {1, n + 1, (n + 1) * (n + 1)}, magnetic};
}

KERNEL_INLINE static int64_t ghost_at(const struct borders* of, int d) {
  return of->magnetic ? of->stride[(d + 1) % 3] + of->stride[(d + 2) % 3] : of->n * of->stride[d];
}

KERNEL_INLINE static int64_t sent_from(const struct borders* of, int d) {
  return of->magnetic ? ghost_at(of, d) + of->n * of->stride[d] : 0;
}

KERNEL_INLINE static void pack_fields(double* const* message, double* const* field, struct borders of, int skip_first) {
  for (int d = skip_first; d < DIRECTIONS; ++d)
    for (int c = 0; c < TANGENTIAL; ++c)
      pack(message[d * TANGENTIAL + c], field[(d + 1 + c) % 3] + sent_from(&of, d), of.n, of.n, of.stride[d == 2 ? 1 : 2],
           of.stride[d == 0 ? 1 : 0]);
}

KERNEL_INLINE static void unpack_fields(double* const* field, double* const* const* from, struct borders of, int skip_first) {
  for (int d = skip_first; d < DIRECTIONS; ++d)
    for (int c = 0; c < TANGENTIAL; ++c)
      unpack(field[(d + 1 + c) % 3] + ghost_at(&of, d), from[d][d * TANGENTIAL + c], of.n, of.n, of.stride[d == 2 ? 1 : 2],
             of.stride[d == 0 ? 1 : 0]);
}

/* All messages of a team's patches, and the sizes that every thread needs. */
struct mail {
  struct patch* patches;
  double** message;
  int64_t of_thread, n;
  enum buffers buffers;
};

static void pack_all(const struct mail* mail, int64_t rank, int magnetic) {
  const int64_t first = rank * mail->of_thread;
  allocate_messages("fdtd3d_messages", mail->message + first * OF_PATCH, mail->of_thread * OF_PATCH, mail->n * mail->n, rank,
                    mail->buffers);
  for (int64_t number = first; number < first + mail->of_thread; ++number) {
    const struct patch* patch = &mail->patches[number];
    double* const* field = magnetic ? patch->h : patch->e;
    pack_fields(mail->message + number * OF_PATCH, field, borders_of(mail->n, magnetic), magnetic ? patch->absorbing : patch->source);
  }
}

static void unpack_all(const struct mail* mail, int64_t rank, int magnetic) {
  for (int64_t number = rank * mail->of_thread; number < (rank + 1) * mail->of_thread; ++number) {
    const struct patch* patch = &mail->patches[number];
    double* const* from[DIRECTIONS];
    for (int d = 0; d < DIRECTIONS; ++d)
      from[d] = mail->message + ((magnetic ? patch->behind[d] : patch->ahead[d]) - mail->patches) * OF_PATCH;
    double* const* field = magnetic ? patch->h : patch->e;
    unpack_fields(field, from, borders_of(mail->n, magnetic), magnetic ? patch->source : patch->absorbing);
  }
}

static void release_all(const struct mail* mail, int64_t rank) {
  free_messages(mail->message + rank * mail->of_thread * OF_PATCH, mail->of_thread * OF_PATCH, mail->buffers);
}

static void initialise_all(const struct mail* mail, const struct patch_box* box, const struct plane_wave* wave, int64_t rank) {
  const int64_t n = mail->n, elements = (n + 1) * (n + 1) * (n + 1);
  for (int64_t number = rank * mail->of_thread; number < (rank + 1) * mail->of_thread; ++number) {
    struct patch* patch = &mail->patches[number];
    patch_place(box, number, patch->first);
    patch->source = patch->first[0] == 0;
    patch->absorbing = patch->first[0] == patch_extent(box, 0) - 1;
    for (int d = 0; d < DIRECTIONS; ++d) {
      patch->first[d] *= n;
      patch->ahead[d] = mail->patches + patch_neighbour(box, number, d, 1);
      patch->behind[d] = mail->patches + patch_neighbour(box, number, d, -1);
      patch->e[d] = patch_block("fdtd3d_messages", elements, rank);
      patch->h[d] = patch_block("fdtd3d_messages", elements, rank);
    }
    patch->before = patch->absorbing ? patch_block("fdtd3d_messages", 2 * n * n, rank) : NULL;
    initialise_patch(patch, wave, n);
  }
}

static void update_all_magnetic(const struct mail* mail, int64_t rank, double dt) {
  struct patch* mine = mail->patches + rank * mail->of_thread;
  for (struct patch* patch = mine; patch < mine + mail->of_thread; ++patch)
    update_magnetic(patch->h[0], patch->h[1], patch->h[2], patch->e[0], patch->e[1], patch->e[2], mail->n, dt);
}

static void update_all_electric(const struct mail* mail, const struct plane_wave* wave, int64_t rank, double dt, int64_t steps) {
  struct patch* mine = mail->patches + rank * mail->of_thread;
  for (struct patch* patch = mine; patch < mine + mail->of_thread; ++patch) {
    if (patch->absorbing) keep_for_boundary(patch, mail->n);
    update_electric(patch->e[0], patch->e[1], patch->e[2], patch->h[0], patch->h[1], patch->h[2], mail->n, dt, patch->source);
    if (patch->source) drive_source(patch, wave, mail->n, steps);
    if (patch->absorbing) absorb(patch, mail->n, mur_factor(dt));
  }
}

int main(int argc, char** argv) {
  enum { PATCH, PATCHES, STEPS, LAYOUT, BUFFERS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"patch", 12, 4, 1 << 10, NULL},        {"patches", 2, 1, 1 << 20, NULL},
                                      {"steps", 4, 1, 1 << 20, NULL},         {"layout", 0, 0, 0, "strip|compact"},
                                      {"buffers", 0, 0, 0, "thread|message"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "fdtd3d_messages", p, COUNT);
  const int64_t n = p[PATCH].value, of_thread = p[PATCHES].value, steps = p[STEPS].value, threads = patch_threads();
  const double dt = time_step;
  const struct patch_box box = patch_box(threads, of_thread, 3, (enum patch_layout)p[LAYOUT].value);
  const struct plane_wave wave =
      plane_wave((const int64_t[]){n * patch_extent(&box, 0), n * patch_extent(&box, 1), n * patch_extent(&box, 2)}, time_step);
  const struct mail mail = {kernel_allocate("fdtd3d_messages", (size_t)(threads * of_thread), sizeof(struct patch)),
                            kernel_allocate("fdtd3d_messages", (size_t)(threads * of_thread * OF_PATCH), sizeof(double*)), of_thread, n,
                            (enum buffers)p[BUFFERS].value};

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  initialise_all(&mail, &box, &wave, omp_get_thread_num());
  kernel_time("init", begin);

  for (int64_t step = 0; step < steps; ++step) {
    HOMENODE_STEP(step);
    begin = KERNEL_REGION("exchange_e_pack");
#pragma omp parallel
    pack_all(&mail, omp_get_thread_num(), 0);
    kernel_time("exchange_e_pack", begin);
    begin = KERNEL_REGION("exchange_e_unpack");
#pragma omp parallel
    unpack_all(&mail, omp_get_thread_num(), 0);
    kernel_time("exchange_e_unpack", begin);
    begin = KERNEL_REGION("exchange_e_release");
#pragma omp parallel
    release_all(&mail, omp_get_thread_num());
    kernel_time("exchange_e_release", begin);

    begin = KERNEL_REGION("update_h");
#pragma omp parallel
    update_all_magnetic(&mail, omp_get_thread_num(), dt);
    kernel_time("update_h", begin);

    begin = KERNEL_REGION("exchange_h_pack");
#pragma omp parallel
    pack_all(&mail, omp_get_thread_num(), 1);
    kernel_time("exchange_h_pack", begin);
    begin = KERNEL_REGION("exchange_h_unpack");
#pragma omp parallel
    unpack_all(&mail, omp_get_thread_num(), 1);
    kernel_time("exchange_h_unpack", begin);
    begin = KERNEL_REGION("exchange_h_release");
#pragma omp parallel
    release_all(&mail, omp_get_thread_num());
    kernel_time("exchange_h_release", begin);

    begin = KERNEL_REGION("update_e");
#pragma omp parallel
    update_all_electric(&mail, &wave, omp_get_thread_num(), dt, step + 1);
    kernel_time("update_e", begin);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("fdtd3d_messages", wrong_cells(mail.patches, threads * of_thread, &wave, n, steps),
                                                   "components, velocities or energies differ from the plane wave")
                                  : 0;
  for (int64_t number = 0; number < threads * of_thread; ++number) {
    for (int d = 0; d < DIRECTIONS; ++d) {
      free(mail.patches[number].e[d]);
      free(mail.patches[number].h[d]);
    }
    free(mail.patches[number].before);
  }
  free(mail.message);
  free(mail.patches);
  return code;
}
