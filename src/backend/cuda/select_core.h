#ifndef CUZK_BACKEND_CUDA_SELECT_CORE_H
#define CUZK_BACKEND_CUDA_SELECT_CORE_H

#include "backend/cuda/dfr_io.h"
#include "backend/cuda/select.h"

/* How many bits are set before a word of the maps: the directory's count, and at most 15 words. */
CUZK_HD cuzk_cuda_vars_rank select_rank(const cuzk_cuda_vars_maps *m, uint32_t word)
{
    cuzk_cuda_vars_rank r = m->ranks[word / VARS_GROUP_WORDS];
    for (uint32_t w = word / VARS_GROUP_WORDS * VARS_GROUP_WORDS; w < word; w++) {
        uint32_t have = m->have[w], full = m->full[w];
        r.place += hd_count64(have);
        r.full += hd_count64(have & full);
        r.slot += hd_count64(full);
    }
    return r;
}

/* The bits of v where mask has bits, moved together to the low end. */
CUZK_HD uint32_t select_extract(uint32_t v, uint32_t mask)
{
    if (mask == 0xffffffffU) {
        return v;
    }
    uint32_t r = 0;
    for (v &= mask; v; v &= v - 1) {
        r |= 1u << hd_count64(mask & ((v & (0u - v)) - 1));
    }
    return r;
}

CUZK_HD void select_bits_one(const cuzk_cuda_select_bits_job *j, uint64_t i)
{
    uint32_t word = j->maps.input_words + (uint32_t)i;
    uint32_t v = select_extract(j->bits[i], j->maps.have[word]);
    if (v) {
        uint32_t at = select_rank(&j->maps, word).place;
        hd_atomic_or32(j->ret + at / 32, v << at % 32);
        uint32_t high = at % 32 ? v >> (32 - at % 32) : 0;
        if (high) {
            hd_atomic_or32(j->ret + at / 32 + 1, high);
        }
    }
}

/* A thread for each variable, so that neighbours copy neighbours: memory bounds it. */
CUZK_HD void select_full_one(const cuzk_cuda_select_full_job *j, uint64_t i)
{
    uint32_t word = (uint32_t)(i / 32), bit = 1u << i % 32;
    uint32_t have = j->maps.have[word], full = j->maps.full[word];
    if (!(have & full & bit)) {
        return;
    }
    cuzk_cuda_vars_rank r = select_rank(&j->maps, word);
    uint32_t place = r.place + hd_count64(have & (bit - 1));
    if (place >= j->from && place < j->to) {
        uint32_t at = r.full + hd_count64(have & full & (bit - 1)) - j->skipped;
        dfr_store(j->ret + at, dfr_load(j->full + r.slot + hd_count64(full & (bit - 1))));
        j->ret_which[at] = place - j->from;
    }
}

#endif
