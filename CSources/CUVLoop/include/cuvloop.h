#ifndef CUVLOOP_H
#define CUVLOOP_H
#endif
