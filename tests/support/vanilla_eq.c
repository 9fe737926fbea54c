#include "support/vanilla_eq.h"

#include "support/support.h"

static void assert_paths_equal(const cuzk_path *a, const cuzk_path *b, size_t siblings)
{
    assert_memory_equal(a->leaf.b, b->leaf.b, 32);
    assert_int_equal(a->index, b->index);
    assert_memory_equal(a->siblings, b->siblings, siblings * 32);
}

void assert_porep_equal(const cuzk_porep *a, const cuzk_porep *b)
{
    const cuzk_sector *s = a->proof.sector;
    const cuzk_tree data = cuzk_sector_data_tree(s), octal = cuzk_sector_octal_tree(s);
    assert_int_equal(a->proof.number, b->proof.number);
    assert_ptr_equal(a->proof.sector, b->proof.sector);
    assert_memory_equal(a->comm_d.b, b->comm_d.b, 32);
    assert_memory_equal(a->comm_r.b, b->comm_r.b, 32);
    assert_memory_equal(a->comm_c.b, b->comm_c.b, 32);
    assert_memory_equal(a->comm_r_last.b, b->comm_r_last.b, 32);
    assert_memory_equal(a->replica_id.b, b->replica_id.b, 32);
    assert_memory_equal(a->seed, b->seed, 32);
    assert_memory_equal(a->ticket, b->ticket, 32);
    assert_int_equal(a->n_partitions, b->n_partitions);
    for (unsigned k = 0; k < a->n_partitions; k++) {
        for (unsigned i = 0; i < s->challenges; i++) {
            const cuzk_porep_challenge *x = &a->partitions[k].challenges[i];
            const cuzk_porep_challenge *y = &b->partitions[k].challenges[i];
            assert_paths_equal(&x->data, &y->data, data.siblings);
            assert_paths_equal(&x->replica, &y->replica, octal.siblings);
            for (unsigned c = 0; c < CUZK_COLUMNS; c++) {
                assert_memory_equal(x->columns[c].rows, y->columns[c].rows, s->layers * 32);
                assert_paths_equal(&x->columns[c].path, &y->columns[c].path, octal.siblings);
            }
        }
    }
}
