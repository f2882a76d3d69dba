/* The memory that holds the program's code. */
#include "cterminal.h"

#ifdef __linux__
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Releases the read-only segments of one program or library. Their pages are those of a file, and
   nothing has written to them. The page that a segment's end shares with the next one is kept. */
static int release_segments(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & mask;
    uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & mask;
    if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  (void)context;
  return 0;
}

void cterminal_release_code(void) { dl_iterate_phdr(release_segments, NULL); }
#else
void cterminal_release_code(void) {}
#endif
