/* The names by which Fortran asks OpenMP: arguments by reference, logicals as integers; `_8_` takes integers of eight bytes.
 * What the program asks itself has these names, what gfortran asks has those of C. (libgomp's fortran.c lists them all.)
 */
#include "team.h"

int homenode_user_num_threads(void), omp_get_max_threads(void), omp_get_num_procs(void), omp_in_parallel(void), omp_get_level(void);
int omp_get_active_level(void), omp_get_max_active_levels(void), omp_get_supported_active_levels(void), omp_get_thread_limit(void);
int omp_get_num_teams(void), omp_get_team_num(void), omp_get_num_devices(void), omp_get_default_device(void), omp_is_initial_device(void);
int omp_get_initial_device(void), omp_get_num_places(void), omp_get_place_num(void), omp_get_partition_num_places(void);
int omp_get_max_task_priority(void), omp_get_place_num_procs(int);
int omp_get_cancellation(void), omp_get_proc_bind(void), omp_in_final(void), omp_get_dynamic(void), omp_get_nested(void);
int omp_get_team_size(int), omp_get_ancestor_thread_num(int);
void omp_set_num_threads(int), omp_set_schedule(int, int), omp_get_schedule(int*, int*);
double omp_get_wtime(void), omp_get_wtick(void);
void omp_init_lock(int*), omp_destroy_lock(int*), omp_set_lock(int*), omp_unset_lock(int*);
void omp_init_nest_lock(int*), omp_destroy_nest_lock(int*), omp_set_nest_lock(int*), omp_unset_nest_lock(int*);
int omp_test_lock(int*), omp_test_nest_lock(int*);

int32_t omp_get_thread_num_(void) { return hn_user_thread_num(RA); }
int32_t omp_get_num_threads_(void) { return homenode_user_num_threads(); }
double omp_get_wtime_(void) { return omp_get_wtime(); }
double omp_get_wtick_(void) { return omp_get_wtick(); }

#define ASK(name) \
  int32_t name##_(void) { return name(); }
ASK(omp_get_max_threads)
ASK(omp_get_num_procs)
ASK(omp_in_parallel)
ASK(omp_get_level)
ASK(omp_get_active_level)
ASK(omp_get_max_active_levels)
ASK(omp_get_supported_active_levels)
ASK(omp_get_thread_limit)
ASK(omp_get_num_teams)
ASK(omp_get_team_num)
ASK(omp_get_num_devices)
ASK(omp_get_default_device)
ASK(omp_is_initial_device)
ASK(omp_get_initial_device)
ASK(omp_get_cancellation)
ASK(omp_get_proc_bind)
ASK(omp_in_final)
ASK(omp_get_dynamic)
ASK(omp_get_nested)
ASK(omp_get_num_places)
ASK(omp_get_place_num)
ASK(omp_get_partition_num_places)
ASK(omp_get_max_task_priority)
void omp_get_place_proc_ids_(const int32_t* place, int32_t* ids) { (void)place, (void)ids; }
void omp_get_place_proc_ids_8_(const int64_t* place, int64_t* ids) { (void)place, (void)ids; }
void omp_get_partition_place_nums_(int32_t* places) { (void)places; }
void omp_get_partition_place_nums_8_(int64_t* places) { (void)places; }

#define ASK_OF(name)                                       \
  int32_t name##_(const int32_t* of) { return name(*of); } \
  int32_t name##_8_(const int64_t* of) { return name((int)*of); }
ASK_OF(omp_get_team_size)
ASK_OF(omp_get_ancestor_thread_num)
ASK_OF(omp_get_place_num_procs)

/* As in queries.c: one level of parallelism, and nothing that is settable changes it. */
#define SET_NOTHING(name)                       \
  void name##_(const int32_t* to) { (void)to; } \
  void name##_8_(const int64_t* to) { (void)to; }
SET_NOTHING(omp_set_dynamic)
SET_NOTHING(omp_set_nested)
SET_NOTHING(omp_set_max_active_levels)
SET_NOTHING(omp_set_default_device)

void omp_set_num_threads_(const int32_t* n) { omp_set_num_threads(*n); }
void omp_set_num_threads_8_(const int64_t* n) { omp_set_num_threads((int)*n); }
void omp_set_schedule_(const int32_t* kind, const int32_t* chunk) { omp_set_schedule(*kind, *chunk); }
void omp_set_schedule_8_(const int32_t* kind, const int64_t* chunk) { omp_set_schedule(*kind, (int)*chunk); }
void omp_get_schedule_(int32_t* kind, int32_t* chunk) { omp_get_schedule(kind, chunk); }
void omp_get_schedule_8_(int32_t* kind, int64_t* chunk) {
  int found;
  omp_get_schedule(kind, &found);
  *chunk = found;
}

/* omp_lock_kind has four bytes, omp_nest_lock_kind eight: what locks.c uses of them. */
#define WITH_LOCK(name) \
  void name##_(int32_t* lock) { name(lock); }
WITH_LOCK(omp_init_lock)
WITH_LOCK(omp_destroy_lock)
WITH_LOCK(omp_set_lock)
WITH_LOCK(omp_unset_lock)
WITH_LOCK(omp_init_nest_lock)
WITH_LOCK(omp_destroy_nest_lock)
WITH_LOCK(omp_set_nest_lock)
WITH_LOCK(omp_unset_nest_lock)
int32_t omp_test_lock_(int32_t* lock) { return omp_test_lock(lock); }
int32_t omp_test_nest_lock_(int32_t* lock) { return omp_test_nest_lock(lock); }
