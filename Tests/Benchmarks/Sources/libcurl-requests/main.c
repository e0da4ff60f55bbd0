// Sends requests straight over libcurl, with one thread and without decoding:
// the least that a request costs with libcurl.
//
//     libcurl-requests CLIENT ORIGIN PATH COUNT AT-ONCE [WARM-UP [AUTHORITIES]]
//
// A client is libcurl, which speaks HTTP/1.1, or libcurl-http2. AUTHORITIES is a
// file with the certificates to trust, instead of the system's. It prints a line
// with seconds, processor seconds and peak memory in KiB, as the program
// `requests` does.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__APPLE__)
#define LIBRARY "libcurl.4.dylib"
#include <sys/resource.h>
#else
#define LIBRARY "libcurl.so.4"
#endif

// libcurl's headers are often not installed. These numbers and types are the
// same in all of its versions with this ABI.

enum {
    OPTION_WRITE_DATA = 10001,
    OPTION_URL = 10002,
    OPTION_USER_AGENT = 10018,
    OPTION_HEADER_FIELDS = 10023,
    OPTION_AUTHORITIES = 10065,
    OPTION_HTTP_VERSION = 84,
    OPTION_NO_SIGNAL = 99,
    OPTION_ACCEPT_ENCODING = 10102,
    OPTION_PRIVATE = 10103,
    OPTION_WRITE_FUNCTION = 20011,
    OPTION_WAIT_FOR_MULTIPLEXING = 237,
    MULTI_OPTION_CONNECTIONS_PER_HOST = 7,
    INFO_RESPONSE_CODE = 0x200000 + 2,
    INFO_PRIVATE = 0x100000 + 21,
    VERSION_1_1 = 2,
    VERSION_2_OVER_TLS = 4,
    MESSAGE_DONE = 1,
    ALL = 3,
};

typedef void CURL;
typedef void CURLM;
typedef struct {
    int message;
    CURL *easy;
    union {
        void *whatever;
        int result;
    } data;
} Message;

static struct {
    int (*global_init)(long);
    CURL *(*easy_init)(void);
    int (*easy_setopt)(CURL *, int, ...);
    int (*easy_getinfo)(CURL *, int, ...);
    const char *(*easy_strerror)(int);
    void *(*slist_append)(void *, const char *);
    CURLM *(*multi_init)(void);
    int (*multi_setopt)(CURLM *, int, ...);
    int (*multi_add_handle)(CURLM *, CURL *);
    int (*multi_remove_handle)(CURLM *, CURL *);
    int (*multi_perform)(CURLM *, int *);
    int (*multi_poll)(CURLM *, void *, unsigned, int, int *);
    Message *(*multi_info_read)(CURLM *, int *);
} curl;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "failed: %s: %s\n", what, why ? why : "");
    exit(1);
}

static void loadLibrary(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("dlopen", dlerror());
#define LOAD(name) \
    if (!(*(void **)&curl.name = dlsym(library, "curl_" #name))) fail("dlsym", dlerror())
    LOAD(global_init);
    LOAD(easy_init);
    LOAD(easy_setopt);
    LOAD(easy_getinfo);
    LOAD(easy_strerror);
    LOAD(slist_append);
    LOAD(multi_init);
    LOAD(multi_setopt);
    LOAD(multi_add_handle);
    LOAD(multi_remove_handle);
    LOAD(multi_perform);
    LOAD(multi_poll);
    LOAD(multi_info_read);
#undef LOAD
    curl.global_init(ALL);
}

typedef struct {
    char *bytes;
    size_t length, capacity;
} Body;

static size_t collect(char *bytes, size_t size, size_t count, void *context) {
    Body *body = context;
    size_t length = size * count;
    if (body->length + length > body->capacity) {
        body->capacity = (body->length + length) * 2;
        body->bytes = realloc(body->bytes, body->capacity);
        if (!body->bytes) return 0;
    }
    memcpy(body->bytes + body->length, bytes, length);
    body->length += length;
    return length;
}

// Sends this many requests over the handles, which must be idle.
static void sendRequests(CURLM *multi, CURL **handles, long atOnce, long count) {
    long started = 0, finished = 0;
    while (started < atOnce && started < count) curl.multi_add_handle(multi, handles[started++]);
    while (finished < count) {
        int running = 0, queued = 0;
        int status = curl.multi_perform(multi, &running);
        if (status) fail("curl_multi_perform", "");
        Message *message;
        int hasAdded = 0;
        while ((message = curl.multi_info_read(multi, &queued))) {
            if (message->message != MESSAGE_DONE) continue;
            CURL *easy = message->easy;
            if (message->data.result) fail("a request", curl.easy_strerror(message->data.result));
            long code = 0;
            Body *body = NULL;
            curl.easy_getinfo(easy, INFO_RESPONSE_CODE, &code);
            curl.easy_getinfo(easy, INFO_PRIVATE, (char **)&body);
            if (code != 200 || body->length == 0) fail("a request", "not the flight");
            body->length = 0;
            finished++;
            curl.multi_remove_handle(multi, easy);
            if (started < count) {
                curl.multi_add_handle(multi, easy);
                started++;
                hasAdded = 1;
            }
        }
        if (finished < count && !hasAdded) curl.multi_poll(multi, NULL, 0, 10000, NULL);
    }
}

static double secondsOf(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long peakMemory(void) {
#if defined(__APPLE__)
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
#else
    char line[256];
    long peak = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "VmHWM: %ld", &peak) == 1) break;
    }
    if (status) fclose(status);
    return peak;
#endif
}

// The token of the program `requests`.
static const char *authorization =
    "Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwiZXhwIjo0MTAyNDQ0ODAwfQ.c2lnbmF0dXJl";

int main(int argc, char **argv) {
    long count = argc > 5 ? atol(argv[4]) : 0, atOnce = argc > 5 ? atol(argv[5]) : 0;
    const char *client = argc > 1 ? argv[1] : "";
    int isHTTP2 = !strcmp(client, "libcurl-http2");
    if (count < 1 || atOnce < 1 || (!isHTTP2 && strcmp(client, "libcurl"))) {
        printf("usage: %s libcurl|libcurl-http2 ORIGIN PATH COUNT AT-ONCE [WARM-UP [AUTHORITIES]]\n", argv[0]);
        return 2;
    }
    long warmUp = argc > 6 ? atol(argv[6]) : 0;
    char url[1024];
    snprintf(url, sizeof url, "%s%s", argv[2], argv[3]);

    loadLibrary();
    void *fields = curl.slist_append(NULL, authorization);
    CURLM *multi = curl.multi_init();
    curl.multi_setopt(multi, MULTI_OPTION_CONNECTIONS_PER_HOST, 6L);
    CURL **handles = calloc((size_t)atOnce, sizeof *handles);
    for (long index = 0; index < atOnce; index++) {
        Body *body = calloc(1, sizeof *body);
        CURL *easy = handles[index] = curl.easy_init();
        curl.easy_setopt(easy, OPTION_URL, url);
        curl.easy_setopt(easy, OPTION_HEADER_FIELDS, fields);
        // The same fields as the SDK sends, with the options that are made for them.
        curl.easy_setopt(easy, OPTION_USER_AGENT, "requests libcurl");
        curl.easy_setopt(easy, OPTION_ACCEPT_ENCODING, "");
        curl.easy_setopt(easy, OPTION_NO_SIGNAL, 1L);
        curl.easy_setopt(easy, OPTION_WRITE_FUNCTION, collect);
        curl.easy_setopt(easy, OPTION_WRITE_DATA, body);
        curl.easy_setopt(easy, OPTION_PRIVATE, body);
        curl.easy_setopt(easy, OPTION_HTTP_VERSION, isHTTP2 ? (long)VERSION_2_OVER_TLS : (long)VERSION_1_1);
        if (isHTTP2) curl.easy_setopt(easy, OPTION_WAIT_FOR_MULTIPLEXING, 1L);
        if (argc > 7) curl.easy_setopt(easy, OPTION_AUTHORITIES, argv[7]);
    }

    if (warmUp > 0) sendRequests(multi, handles, atOnce < 16 ? atOnce : 16, warmUp);
    double seconds = secondsOf(CLOCK_MONOTONIC), processor = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
    sendRequests(multi, handles, atOnce, count);
    printf(
        "seconds=%f processor=%f peak=%ld\n", secondsOf(CLOCK_MONOTONIC) - seconds,
        secondsOf(CLOCK_PROCESS_CPUTIME_ID) - processor, peakMemory());
    return 0;
}
