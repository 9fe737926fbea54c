#include "filecoin/circuits/circuit_witness.h"

#include "filecoin/circuits/circuit_porep.h"
#include "filecoin/circuits/circuit_post.h"
#include "filecoin/circuits/circuit_update.h"

static cuzk_code finish(cuzk_cs *cs, cuzk_ports *ret, cuzk_err *err)
{
    cuzk_code code = cuzk_cs_finish_witness(cs, ret, err);
    cuzk_cs_free(cs);
    return code;
}

cuzk_code cuzk_porep_ports(cuzk_ports *ret, const cuzk_shape *shape, const cuzk_circuit_id *id,
                           const cuzk_porep *p, unsigned partition, cuzk_err *err)
{
    if (partition >= p->n_partitions) {
        return CUZK_FAIL(err, CUZK_E_ARG, "partition %u of a proof that has %u", partition,
                         p->n_partitions);
    }
    if (p->proof.sector != id->sector) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a proof of a %s sector for the circuit %s",
                         p->proof.sector->name, shape->name);
    }
    cuzk_porep_config c = cuzk_porep_config_of(id);
    cuzk_cs *cs = NULL;
    CUZK_TRY(cuzk_cs_new_witness(&cs, shape, err));
    cuzk_circuit_porep(cs, &c, p, partition);
    return finish(cs, ret, err);
}

cuzk_code cuzk_post_ports(cuzk_ports *ret, const cuzk_shape *shape, const cuzk_circuit_id *id,
                          const cuzk_post_sector *sectors, size_t n, cuzk_err *err)
{
    if (n == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a proof of spacetime over no sector");
    }
    cuzk_post_config c = cuzk_post_config_of(id);
    cuzk_cs *cs = NULL;
    CUZK_TRY(cuzk_cs_new_witness(&cs, shape, err));
    cuzk_circuit_post(cs, &c, sectors, n);
    return finish(cs, ret, err);
}

cuzk_code cuzk_update_ports(cuzk_ports *ret, const cuzk_shape *shape,
                            const cuzk_update_partition *p, cuzk_err *err)
{
    cuzk_cs *cs = NULL;
    CUZK_TRY(cuzk_cs_new_witness(&cs, shape, err));
    cuzk_circuit_update(cs, p->sector, p);
    return finish(cs, ret, err);
}
