#include "bench.h"

__attribute__((visibility("default"))) const char *argp_program_version =
    "cuzk-bench " CUZK_VERSION;

static const program_command commands[] = {
    {"single", bench_single},       {"batch", bench_batch},     {"stress", bench_stress},
    {"status", bench_status},       {"metrics", bench_metrics}, {"jobs", bench_jobs},
    {"cancel", bench_cancel},       {"preload", bench_preload}, {"evict", bench_evict},
    {"waterfall", bench_waterfall}, {"compare", bench_compare}, {"slotted-bench", bench_slotted},
    {"synth-only", bench_synth},    {"pce-bench", bench_pce},
};

static const char doc[] =
    "Measures a cuzk daemon, and looks at what it measured.\v"
    "Commands:\n"
    "  single         prove once\n"
    "  batch          prove several times and sum up\n"
    "  stress         mixed kinds at given rates\n"
    "  status         what the daemon does\n"
    "  metrics        the daemon's metrics\n"
    "  jobs           the jobs that the daemon knows\n"
    "  cancel         cancel a job\n"
    "  preload        load a circuit and its key\n"
    "  evict          free a circuit and its key\n"
    "  waterfall      where the time went: text, SVG, HTML or a trace\n"
    "  compare        two runs beside each other, or a sweep over settings\n"
    "  slotted-bench  a sweep over slot_size\n"
    "  synth-only     the host's part of a proof, without a daemon\n"
    "  pce-bench      compressed constraints: size, load, evaluation, without a daemon\n"
    "\n"
    "`cuzk-bench COMMAND --help' has the options of each.";

int main(int argc, char **argv)
{
    const program p = {"cuzk-bench",  doc,      &bench_target_argp,
                       &bench_global, commands, sizeof commands / sizeof *commands};
    return program_main(&p, argc, argv);
}
