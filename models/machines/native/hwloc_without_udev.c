/* For hwloc's archive where udev is not linked: hwloc asks it for the names of disks and the like, which nothing here reads. It goes
   without where udev_new gives nothing, as when it reads another host's file system. */
#include <stddef.h>

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
