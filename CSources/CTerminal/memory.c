/* Written in C because it walks the segments of the program and its libraries. */
#include "cterminal.h"

#ifdef __linux__
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static int release(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  const uintptr_t mask = *(const uintptr_t *)context;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    /* Only these are as they are in the file. */
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    uintptr_t end = (start + segment->p_memsz + mask) & ~mask;
    start &= ~mask;
    madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void cterminal_release_startup(void) {
  uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
  dl_iterate_phdr(release, &mask);
}
#else
void cterminal_release_startup(void) {}
#endif
