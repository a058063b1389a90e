/* For a wheel, where hwloc's archive is linked into a shared library (HOMENODE_PORTABLE in cmake/homenode_libraries.cmake).

   udev, which is not linked: hwloc asks it for the names of disks and the like, which nothing here reads. It goes without where udev_new
   gives nothing, as when it reads another host's file system. */
#include <stddef.h>
#include <stdio.h>

struct udev;
struct udev_device;

struct udev* udev_new(void);
struct udev* udev_unref(struct udev*);
struct udev_device* udev_device_new_from_subsystem_sysname(struct udev*, const char*, const char*);
const char* udev_device_get_property_value(struct udev_device*, const char*);
struct udev_device* udev_device_unref(struct udev_device*);

struct udev* udev_new(void) {
  return NULL;
}
struct udev* udev_unref(struct udev* unused) {
  (void)unused;
  return NULL;
}
struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* unused, const char* subsystem, const char* name) {
  (void)unused, (void)subsystem, (void)name;
  return NULL;
}
const char* udev_device_get_property_value(struct udev_device* unused, const char* key) {
  (void)unused, (void)key;
  return NULL;
}
struct udev_device* udev_device_unref(struct udev_device* unused) {
  (void)unused;
  return NULL;
}

/* Variables of the C library: the archive was compiled for programs and reaches them by a distance that no other library's variable has.
   The linker gives it these instead (-Wl,--wrap=NAME). */
extern FILE *__real_stdout, *__real_stderr;
extern char* __real_program_invocation_name;
__attribute__((visibility("hidden"))) FILE *__wrap_stdout, *__wrap_stderr;
__attribute__((visibility("hidden"))) char* __wrap_program_invocation_name;
__attribute__((constructor)) static void same_values(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
  __wrap_program_invocation_name = __real_program_invocation_name;
}
