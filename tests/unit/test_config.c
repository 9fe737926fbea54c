#include "base/file.h"
#include "base/toml.h"
#include "config/config_impl.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_span span_of(const char *text)
{
    return (cuzk_span){(const uint8_t *)text, strlen(text)};
}

static cuzk_config *defaults(void)
{
    cuzk_config *c = NULL;
    cuzk_err err;
    if (cuzk_config_new(&c, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return c;
}

static cuzk_config *parse(const char *text)
{
    cuzk_config *c = defaults();
    cuzk_err err;
    if (cuzk_config_apply(c, span_of(text), "t", &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return c;
}

static char *formatted(const cuzk_config *c)
{
    char *text = NULL;
    assert_int_equal(cuzk_config_format(c, &text, NULL), CUZK_OK);
    return text;
}

static const char *example_path(void)
{
    const char *path = test_vector("../../packaging/cuzk.example.toml");
    assert_non_null(path);
    return path;
}

static void the_example_has_every_key_with_its_default(void **state)
{
    (void)state;
    cuzk_config *c = defaults(), *plain = defaults();
    cuzk_err err;
    if (cuzk_config_apply_file(c, example_path(), &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(c->warnings.n, 0);
    char *a = formatted(c), *b = formatted(plain);
    assert_string_equal(a, b);
    free(a);
    free(b);
    cuzk_config_free(plain);
    cuzk_config_free(c);

    cuzk_file_map map;
    cuzk_toml *doc;
    assert_int_equal(cuzk_file_map_open(&map, example_path(), NULL), CUZK_OK);
    assert_int_equal(cuzk_toml_parse(&doc, map.bytes, "example", NULL), CUZK_OK);
    for (size_t i = 0; i < cuzk_config_key_count; i++) {
        const config_key *k = &cuzk_config_keys[i];
        const cuzk_toml_value *s = cuzk_toml_get(doc, cuzk_toml_root(doc), k->section);
        if (!s || !cuzk_toml_get(doc, s, k->name) != (k->type == CONFIG_EXPLAINED)) {
            fail_msg("%s.%s: expected in the example, unless it has no effect", k->section,
                     k->name);
        }
    }
    cuzk_toml_free(doc);
    cuzk_file_map_close(&map);
}

static void every_line_of_keys_in_the_example_follows_a_comment(void **state)
{
    (void)state;
    FILE *f = fopen(example_path(), "r");
    assert_non_null(f);
    char line[512];
    bool documented = false;
    size_t keys = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') {
            documented = true;
        } else if (line[0] == '\n' || line[0] == '[') {
            documented = false;
        } else { /* tls_cert and tls_key share one */
            assert_true(documented);
            keys++;
        }
        assert_true(strlen(line) <= 130);
    }
    fclose(f);
    assert_true(keys > 35);
}

static void values_of_every_type_are_read(void **state)
{
    (void)state;
    cuzk_config *c = parse(
        "[daemon]\nlisten = ['unix:///a b', '[::1]:9820', 'localhost:0']\nallow_insecure = true\n"
        "drain_timeout = '250ms'\nmax_message = '64 MiB'\n"
        "[memory]\ntotal_budget = '50GB'\nsafety_margin = 7\npinned_budget = 'auto'\n"
        "eviction_min_idle = 90\n[gpus]\ndevices = [3, 0]\nbackend = 'cpu'\ncpus = '0-2,64,63,1'\n"
        "[store]\nkeep_results = '7d'\n[logging]\nlevel = 'trace'\nformat = 'text'\n"
        "[pipeline]\nslot_size = 0\n");
    assert_int_equal(c->daemon.listen.n, 3);
    assert_string_equal(c->daemon.listen.v[1], "[::1]:9820");
    assert_true(c->daemon.allow_insecure);
    assert_true(c->daemon.drain_timeout_ms == 250);
    assert_true(c->daemon.max_message == 64ull << 20);
    assert_true(c->memory.total_budget == 50000000000ull);
    assert_true(c->memory.safety_margin == 7);
    assert_true(c->memory.pinned_budget == CUZK_CONFIG_AUTO);
    assert_true(c->memory.eviction_min_idle_ms == 90000);
    assert_int_equal(c->gpus.devices.n, 2);
    assert_int_equal(c->gpus.devices.v[0], 3);
    assert_int_equal(c->gpus.backend, CUZK_CONFIG_BACKEND_CPU);
    assert_int_equal(c->gpus.cpus.n, 5);
    static const uint32_t cpus[] = {0, 1, 2, 63, 64};
    assert_memory_equal(c->gpus.cpus.v, cpus, sizeof cpus);
    assert_true(c->store.keep_results_ms == 7 * 86400000ull);
    assert_int_equal(c->logging.level, CUZK_LOG_TRACE);
    assert_int_equal(c->logging.format, CUZK_CONFIG_LOG_TEXT);
    assert_int_equal(c->pipeline.slot_size, 0);
    char *text = formatted(c);
    assert_non_null(strstr(text, "cpus = \"0-2,63-64\"\n"));
    cuzk_config *again = parse(text);
    char *twice = formatted(again);
    assert_string_equal(text, twice);
    free(text);
    free(twice);
    cuzk_config_free(again);
    cuzk_config_free(c);
    cuzk_config_free(NULL);
}

static void what_is_wrong_is_said_with_line_column_and_what_was_meant(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[daemon]\nlisten_on = 'x'\n", "t:2:1: no key daemon.listen_on: did you mean \"listen\"?"},
        {"[gpus]\n\n gpu_thread = 3\n",
         "t:3:2: no key gpus.gpu_thread: did you mean \"gpu_threads\"?"},
        {"[gpus]\nslot_size = 1\n",
         "t:2:1: no key gpus.slot_size: did you mean pipeline.slot_size?"},
        {"[gpu]\n", "t:1:2: no section \"gpu\": did you mean \"gpus\"?"},
        {"slot_size = 1\n", "t:1:1: \"slot_size\" belongs into section [pipeline]"},
        {"[daemon]\nquux = 1\n", "t:2:1: no key daemon.quux"},
        {"daemon = 1\n", "t:1:1: expected a section [daemon], found an integer"},
        {"[gpus]\ngpu_threads = '4'\n",
         "t:2:15: gpus.gpu_threads: expected an integer from 0 to 4096, found \"4\""},
        {"[gpus]\ngpu_workers_per_device = 0\n",
         "t:2:26: gpus.gpu_workers_per_device: expected an integer from 1 to 16, found 0"},
        {"[gpus]\nbackend = 'rocm'\n",
         "t:2:11: gpus.backend: expected one of \"auto\", \"cpu\", \"cuda\", found \"rocm\""},
        {"[gpus]\ndevices = [0, 0]\n", "t:2:11: gpus.devices: expected each device once, found 0"},
        {"[gpus]\ndevices = [-1]\n",
         "t:2:11: gpus.devices: expected device numbers from 0 to 1023, found -1"},
        {"[gpus]\nisolate = 1\n", "t:2:11: gpus.isolate: expected true or false, found 1"},
        {"[gpus]\ncpus = '3-1'\n", "t:2:8: gpus.cpus: expected processors below 1024"},
        {"[gpus]\ncpus = '1024'\n", "t:2:8: gpus.cpus: expected processors below 1024"},
        {"[gpus]\ncpus = '1,'\n", "t:2:8: gpus.cpus: expected processors below 1024"},
        {"[memory]\nsafety_margin = 'auto'\n",
         "t:2:17: memory.safety_margin: expected a size such as \"5GiB\", bytes, found \"auto\""},
        {"[memory]\ntotal_budget = '5 gigs'\n",
         "t:2:16: memory.total_budget: expected a size such as \"5GiB\", bytes, or \"auto\", found "
         "\"5 gigs\""},
        {"[memory]\ntotal_budget = '99999999999TiB'\n",
         "t:2:16: memory.total_budget: expected a size"},
        {"[memory]\ntotal_budget = 1.5\n",
         "t:2:16: memory.total_budget: expected a size such as \"5GiB\", bytes, or \"auto\", found "
         "a number with a fraction"},
        {"[daemon]\nmax_message = 5\n",
         "t:2:15: daemon.max_message: expected 1048576 to 1073741824 bytes, found 5"},
        {"[daemon]\ndrain_timeout = '5 weeks'\n",
         "t:2:17: daemon.drain_timeout: expected a time such as"},
        {"[daemon]\ndrain_timeout = -1\n", "t:2:17: daemon.drain_timeout: expected a time such as"},
        {"[daemon]\nlisten = []\n", "t:2:10: daemon.listen: expected an address, found none"},
        {"[daemon]\nlisten = 'localhost'\n", "t:2:10: daemon.listen: expected an address HOST:PORT "
                                             "or unix:///PATH, found \"localhost\""},
        {"[daemon]\nlisten = '::1:80'\n", "t:2:10: daemon.listen: expected an address"},
        {"[daemon]\nlisten = 'a:65536'\n", "t:2:10: daemon.listen: expected an address"},
        {"[daemon]\nlisten = 'unix://x'\n", "t:2:10: daemon.listen: expected an address"},
        {"[srs]\npreload = 'porep-32g'\n",
         "t:2:11: srs.preload: expected an array, found \"porep-32g\""},
        {"[srs]\nparam_cache = \"a\\u0000b\"\n", "t:2:15: srs.param_cache: expected a string"},
        {"[srs]\n\"preload\\u0000\" = []\n", "t:2:1: no key srs.preload"},
        {"[srs\n", "t:1:5: expected ] after a table's name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_config *c = defaults();
        cuzk_err err = {.msg = ""};
        assert_int_equal(cuzk_config_apply(c, span_of(cases[i].text), "t", &err), CUZK_E_INPUT);
        if (strncmp(err.msg, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("expected: %s\nfound:    %s", cases[i].message, err.msg);
        }
        cuzk_config_free(c);
    }
}

static void a_configuration_of_the_reference_is_accepted_and_explained(void **state)
{
    (void)state;
    cuzk_config *c = parse("[daemon]\nlisten = \"0.0.0.0:9820\"\nstatus_listen = \"\"\n"
                           "[memory]\ntotal_budget = \"auto\"\nsafety_margin = \"5GiB\"\n"
                           "eviction_min_idle = \"5m\"\npinned_budget = \"50GiB\"\n"
                           "working_memory_budget = \"80GiB\"\n"
                           "[gpus]\ndevices = []\ngpu_threads = 32\ngpu_workers_per_device = 2\n"
                           "[scheduler]\nmax_batch_size = 1\nmax_batch_wait_ms = 10000\n"
                           "sort_by_type = true\n"
                           "[synthesis]\nthreads = 64\npartition_workers = 20\n"
                           "[pipeline]\nenabled = false\nsynthesis_lookahead = 1\n"
                           "synthesis_concurrency = 1\nmax_parallel_synthesis = 18\n"
                           "slot_size = 0\nmax_gpu_queue_depth = 8\n"
                           "[srs]\nparam_cache = \"/data/zk/params\"\npreload = [\"porep-32g\"]\n"
                           "[logging]\nlevel = \"info\"\n");
    assert_int_equal(c->pipeline.slot_size, 0);
    assert_int_equal(c->gpus.gpu_threads, 32);
    assert_int_equal(c->srs.preload.n, 1);
    assert_true(c->memory.pinned_budget == 50ull << 30);
    /* working_memory_budget, partition_workers, enabled = false, max_gpu_queue_depth; the others
     * ask for what happens anyway */
    assert_int_equal(c->warnings.n, 4);
    assert_string_equal(c->warnings.v[0], "t:9:25: memory.working_memory_budget has no effect: "
                                          "memory.total_budget covers working memory");
    assert_non_null(strstr(c->warnings.v[2], "t:22:11: pipeline.enabled has no effect"));
    cuzk_config_free(c);
}

static void the_environment_and_single_keys_override(void **state)
{
    (void)state;
    cuzk_config *c = parse("[synthesis]\nthreads = 1\n");
    cuzk_err err;
    setenv("CUZK_SYNTH_THREADS", "7", 1);
    setenv("CUZK_GPU_THREADS", "", 1);
    setenv("FIL_PROOFS_PARAMETER_CACHE", "/some where", 1);
    assert_int_equal(cuzk_config_apply_environment(c, NULL), CUZK_OK);
    assert_int_equal(c->synthesis.threads, 7);
    assert_int_equal(c->gpus.gpu_threads, 0);
    assert_string_equal(c->srs.param_cache, "/some where");
    setenv("CUZK_GPU_THREADS", "many", 1);
    assert_int_equal(cuzk_config_apply_environment(c, &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "CUZK_GPU_THREADS:1:5: expected a value"));
    unsetenv("CUZK_GPU_THREADS");

    assert_int_equal(cuzk_config_set(c, "logging.level", "debug", "--log-level", NULL), CUZK_OK);
    assert_int_equal(c->logging.level, CUZK_LOG_DEBUG);
    assert_int_equal(cuzk_config_set(c, "daemon.listen", "['a:1', 'b:2']", "--set", NULL), CUZK_OK);
    assert_int_equal(c->daemon.listen.n, 2);
    assert_int_equal(cuzk_config_set(c, "daemon.listen", "c:3", "--listen", NULL), CUZK_OK);
    assert_string_equal(c->daemon.listen.v[0], "c:3");
    assert_int_equal(cuzk_config_set(c, "logging.level", "loud", "--log-level", &err),
                     CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "--log-level: logging.level: expected one of"));
    assert_int_equal(cuzk_config_set(c, "logging.levl", "x", "--set", &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "--set: no key logging.levl: did you mean \"level\"?");
    assert_int_equal(cuzk_config_set(c, "level", "x", "--set", &err), CUZK_E_INPUT);
    cuzk_config_free(c);
}

static void keys_that_need_each_other_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[daemon]\ntls_cert = 'c'\n", "only tls_cert is set"},
        {"[daemon]\ntls_key = 'k'\n", "only tls_key is set"},
        {"[daemon]\ntls_client_ca = 'a'\n", "tls_client_ca needs"},
        {"[store]\npath = ''\n", "each need a folder"},
        {"[daemon]\ntls_cert = 'c'\ntls_key = 'k'\ntls_client_ca = 'a'\n", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_config *c = parse(cases[i].text);
        cuzk_err err = {.msg = ""};
        cuzk_code code = cuzk_config_check(c, &err);
        assert_int_equal(code, cases[i].message ? CUZK_E_INPUT : CUZK_OK);
        assert_true(!cases[i].message || strstr(err.msg, cases[i].message));
        cuzk_config_free(c);
    }
}

static void a_file_that_is_not_there_says_so(void **state)
{
    (void)state;
    cuzk_config *c = defaults();
    cuzk_err err;
    assert_int_equal(cuzk_config_apply_file(c, "/no/such/cuzk.toml", &err), CUZK_E_NOT_FOUND);
    assert_string_equal(err.msg, "/no/such/cuzk.toml: no such file");
    cuzk_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_every_key_with_its_default),
        cmocka_unit_test(every_line_of_keys_in_the_example_follows_a_comment),
        cmocka_unit_test(values_of_every_type_are_read),
        cmocka_unit_test(what_is_wrong_is_said_with_line_column_and_what_was_meant),
        cmocka_unit_test(a_configuration_of_the_reference_is_accepted_and_explained),
        cmocka_unit_test(the_environment_and_single_keys_override),
        cmocka_unit_test(keys_that_need_each_other_are_checked),
        cmocka_unit_test(a_file_that_is_not_there_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
