/* A task that is over when an event says so. */
#include <omp.h>
void work(omp_event_handle_t* handle) { *handle = (omp_event_handle_t)0; }
int main(void) {
  omp_event_handle_t event;
#pragma omp parallel
#pragma omp single
#pragma omp task detach(event)
  work(&event);
}
