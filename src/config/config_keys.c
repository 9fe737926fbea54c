#include "config/config_impl.h"

/* The keys. Adding one here, in cuzk_config and in packaging/cuzk.example.toml is all it takes; a
 * test compares the three. */

static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
static const char *const formats[] = {"auto", "json", "text", NULL};
static const char *const levels[] = {
#define X(level, name) name,
    CUZK_LOG_LEVEL_MAP(X)
#undef X
        NULL,
};

#define AT(section, field) offsetof(cuzk_config, section.field)
#define MIB                (1ull << 20)
#define GIB                (1ull << 30)
#define MANY               (1u << 20)

#define KEY(s, n, type, fallback)                                                                  \
    {                                                                                              \
#s, #n, type, AT(s, n), fallback, 0, 0, NULL, NULL                                         \
    }
#define COUNT(s, n, fallback, min, max)                                                            \
    {                                                                                              \
#s, #n, CONFIG_COUNT, AT(s, n), fallback, min, max, NULL, NULL                             \
    }
#define SIZE(s, n, fallback, min, max)                                                             \
    {                                                                                              \
#s, #n, CONFIG_SIZE, AT(s, n), fallback, min, max, NULL, NULL                              \
    }
#define DURATION(s, n, fallback)                                                                   \
    {                                                                                              \
#s, #n, CONFIG_DURATION, AT(s, n##_ms), fallback, 0, 0, NULL, NULL                         \
    }
#define WORD(s, n, fallback, words)                                                                \
    {                                                                                              \
#s, #n, CONFIG_WORD, AT(s, n), fallback, 0, 0, words, NULL                                 \
    }
#define EXPLAINED(s, n, fallback, text)                                                            \
    {                                                                                              \
#s, #n, CONFIG_EXPLAINED, 0, fallback, 0, 0, NULL, text                                    \
    }

const config_key cuzk_config_keys[] = {
    KEY(daemon, listen, CONFIG_ADDRESSES, "\"unix:///run/curio/cuzk.sock\""),
    KEY(daemon, status_listen, CONFIG_ADDRESS, "\"127.0.0.1:9821\""),
    KEY(daemon, allow_insecure, CONFIG_BOOL, "false"),
    DURATION(daemon, drain_timeout, "\"60s\""),
    SIZE(daemon, max_message, "\"256MiB\"", MIB, GIB),
    COUNT(daemon, max_queued_jobs, "10000", 1, 10 * MANY),
    KEY(daemon, tls_cert, CONFIG_STRING, "\"\""),
    KEY(daemon, tls_key, CONFIG_STRING, "\"\""),
    KEY(daemon, tls_client_ca, CONFIG_STRING, "\"\""),
    KEY(daemon, token_file, CONFIG_STRING, "\"\""),

    SIZE(memory, total_budget, "\"auto\"", 0, CUZK_CONFIG_AUTO),
    SIZE(memory, safety_margin, "\"5GiB\"", 0, CUZK_CONFIG_AUTO - 1),
    SIZE(memory, pinned_budget, "\"auto\"", 0, CUZK_CONFIG_AUTO),
    SIZE(memory, vram_budget, "\"auto\"", 0, CUZK_CONFIG_AUTO),
    DURATION(memory, eviction_min_idle, "\"5m\""),
    EXPLAINED(memory, working_memory_budget, "", "memory.total_budget covers working memory"),

    KEY(gpus, devices, CONFIG_NUMBERS, "[]"),
    WORD(gpus, backend, "\"auto\"", backends),
    KEY(gpus, cuda_library, CONFIG_STRING, "\"\""),
    COUNT(gpus, gpu_threads, "0", 0, 4096),
    COUNT(gpus, gpu_workers_per_device, "2", 1, 16),
    DURATION(gpus, partition_timeout, "\"15m\""),
    COUNT(gpus, quarantine_after, "3", 0, 1000),
    KEY(gpus, isolate, CONFIG_BOOL, "true"),
    KEY(gpus, cpus, CONFIG_CPUS, "\"\""),

    COUNT(scheduler, max_batch_size, "1", 1, 1024),
    COUNT(scheduler, max_batch_wait_ms, "10000", 0, 3600000),
    KEY(scheduler, reserved_critical_lane, CONFIG_BOOL, "false"),
    COUNT(scheduler, lookahead, "1", 0, 1024),
    COUNT(scheduler, partition_retries, "3", 0, 100),
    EXPLAINED(scheduler, sort_by_type, "true",
              "jobs go by priority, then age, and a key stays resident while jobs wait for it"),

    COUNT(synthesis, threads, "0", 0, 4096),
    KEY(synthesis, cpus, CONFIG_CPUS, "\"\""),
    EXPLAINED(synthesis, partition_workers, "",
              "partitions are synthesised by synthesis.threads threads, at most "
              "pipeline.max_parallel_synthesis at once"),

    COUNT(pipeline, slot_size, "1", 0, 65536),
    COUNT(pipeline, synthesis_concurrency, "1", 1, 1024),
    COUNT(pipeline, max_parallel_synthesis, "18", 0, 4096),
    COUNT(pipeline, channel_capacity, "0", 0, 4096),
    EXPLAINED(pipeline, enabled, "true",
              "proofs always go through the pipeline; pipeline.slot_size = 0 is nearest to none"),
    EXPLAINED(pipeline, synthesis_lookahead, "1",
              "pipeline.channel_capacity says how many slots synthesis may be ahead"),
    EXPLAINED(pipeline, max_gpu_queue_depth, "0",
              "pipeline.channel_capacity bounds what waits for a GPU"),

    KEY(srs, param_cache, CONFIG_STRING, "\"/data/zk/params\""),
    KEY(srs, circuit_cache, CONFIG_STRING, "\"/var/cache/cuzk\""),
    KEY(srs, preload, CONFIG_STRINGS, "[]"),

    KEY(store, path, CONFIG_STRING, "\"/var/lib/cuzk\""),
    DURATION(store, keep_results, "\"24h\""),

    WORD(logging, level, "\"info\"", levels),
    WORD(logging, format, "\"auto\"", formats),
};

const size_t cuzk_config_key_count = sizeof cuzk_config_keys / sizeof cuzk_config_keys[0];

_Static_assert(sizeof(cuzk_log_level) == sizeof(int) &&
                   sizeof(cuzk_config_backend) == sizeof(int) &&
                   sizeof(cuzk_config_log_format) == sizeof(int),
               "words are written as int");
