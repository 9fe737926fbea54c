#ifndef TESTS_KEYS_H
#define TESTS_KEYS_H

#include "cuzk/backend.h"
#include "groth16/groth16.h"
#include "r1cs/cs.h"

/* Key files and partitions of small circuits that tests prove: window-2KiB (0.2 s a proof) and
 * winning-2KiB (1 s). Keys are those that the reference made, from the secrets named "ref". */

/** Fails the test unless all points of two verifying keys are the same. */
void test_vk_equal(const cuzk_vk *got, const cuzk_vk *want);

/** A circuit's files. */
typedef struct test_circuit {
    char name[64], folder[512], shape[1024], params[1024], vk[1024];
} test_circuit;

/** Names the files; makes those that are not there, once for all builds and processes (the folder
 *  test-keys of the build tree, under a lock). */
void test_circuit_open(test_circuit *ret, const char *name);

/** As a backend wants them; borrows from c. */
cuzk_circuit_files test_circuit_files(const test_circuit *c);

/** The reference's own partition of a circuit: ports, blinding, and the proof that must come out.
 */
typedef struct test_partition {
    cuzk_ports ports;
    cuzk_partition_task task; /* borrows from ports and the circuit */
    uint8_t proof[192];
} test_partition;

/** Ends the test as skipped when a vector is not here. */
void test_partition_make(test_partition *ret, const test_circuit *c);
void test_partition_clear(test_partition *p);

#endif
