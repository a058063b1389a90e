/* Code for a device (`target`) and leagues of teams (`teams`) as libgomp runs them where there is no device: on the thread that comes to
 * them, the teams one after the other, data where they are (its target.c and teams.c). */
#include <stdlib.h>
#include <string.h>

#include "team.h"

enum { FIRSTPRIVATE = 0x0c, TEAMS_ON_THE_HOST = 3 }; /* gcc's GOMP_MAP_FIRSTPRIVATE; libgomp's teams where none are asked for */

static __thread struct { unsigned number, count; } team = {0, 1};
int omp_get_team_num(void) { return (int)team.number; }
int omp_get_num_teams(void) { return (int)team.count; }

void GOMP_teams_reg(void (*function)(void*), void* data, unsigned teams, unsigned thread_limit, unsigned flags) {
  (void)thread_limit, (void)flags;
  team.count = teams ? teams : TEAMS_ON_THE_HOST;
  for (team.number = 0; team.number < team.count; ++team.number) function(data);
  team.number = 0, team.count = 1;
}
/* In code for a device, before each team's turn. */
bool GOMP_teams4(unsigned least, unsigned most, unsigned thread_limit, bool first) {
  (void)most, (void)thread_limit;
  if (first) {
    team.number = 0, team.count = least ? least : 1;
    return true;
  }
  if (team.number + 1 < team.count) {
    ++team.number;
    return true;
  }
  team.number = 0, team.count = 1;
  return false;
}
/* By kind: alignment (its logarithm) in the upper byte. Variables that the device has for itself are copied. */
void GOMP_target_ext(int device, void (*function)(void*), size_t number, void** addresses, size_t* sizes, unsigned short* kinds,
                     unsigned flags, void** depend, void** arguments) {
  (void)device, (void)flags, (void)depend, (void)arguments;
  for (size_t i = 0; i < number; ++i) {
    if ((kinds[i] & 0xff) != FIRSTPRIVATE) continue;
    const size_t align = (size_t)1 << (kinds[i] >> 8);
    const uintptr_t room = (uintptr_t)__builtin_alloca(sizes[i] + align - 1);
    addresses[i] = memcpy((void*)((room + align - 1) & -align), addresses[i], sizes[i]);
  }
  function(addresses);
}
void GOMP_target_data_ext(int device, size_t number, void** addresses, size_t* sizes, unsigned short* kinds) {
  (void)device, (void)number, (void)addresses, (void)sizes, (void)kinds;
}
void GOMP_target_end_data(void) {}
void GOMP_target_update_ext(int device, size_t number, void** addresses, size_t* sizes, unsigned short* kinds, unsigned flags,
                            void** depend) {
  (void)device, (void)number, (void)addresses, (void)sizes, (void)kinds, (void)flags, (void)depend;
}
void GOMP_target_enter_exit_data(int device, size_t number, void** addresses, size_t* sizes, unsigned short* kinds, unsigned flags,
                                 void** depend) {
  (void)device, (void)number, (void)addresses, (void)sizes, (void)kinds, (void)flags, (void)depend;
}
int omp_get_initial_device(void) { return 0; }
int omp_get_num_devices(void) { return 0; }
int omp_get_default_device(void) { return 0; }
int omp_is_initial_device(void) { return 1; }
void omp_set_default_device(int device) { (void)device; }
