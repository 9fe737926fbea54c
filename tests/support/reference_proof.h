#ifndef TESTS_REFERENCE_PROOF_H
#define TESTS_REFERENCE_PROOF_H

/** A circuit whose key and proof the reference made from known secrets: the trapdoor named "ref", r
 *  "ref-r-0", s "ref-s-0". Files are vectors. */
typedef struct reference_proof {
    const char *circuit;
    const char *files[2];      /* the vanilla proofs */
    const char *params_sha256; /* of the whole .params, or NULL when the reference made none */
    const char *vk, *proof;
} reference_proof;

/** Makes the key and the proof of partition 0 and compares them bit for bit. The key goes through a
 *  file when its digest is known. Prints the time of each phase. */
void test_reference_proof(const reference_proof *row);

#endif
