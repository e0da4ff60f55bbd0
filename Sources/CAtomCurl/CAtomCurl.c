#if defined(__linux__)

#define _GNU_SOURCE
#include "CAtomCurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// MARK: - libcurl's ABI

struct curl_message {
    int kind;
    atom_curl_easy easy;
    union {
        void *whatever;
        int result;
    } data;
};

// The beginning of `curl_version_info_data`, which only grows at its end.
struct curl_version_info {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
};

// `z_stream` of zlib, whose ABI (libz.so.1) never changes.
struct zlib_stream {
    const uint8_t *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

// `struct curl_tlssessioninfo`.
struct curl_tls_session {
    int backend;
    void *internals;
};

struct curl_address {
    int family;
    int socktype;
    int protocol;
    unsigned int length;
    struct sockaddr address;
};

enum {
    CURL_GLOBAL_ALL = 3,
    CURLVERSION_FIRST = 0,
    CURL_VERSION_SSL = 1 << 2,
    CURL_VERSION_HTTP2 = 1 << 16,
    CURLMSG_DONE = 1,
    CURLPAUSE_CONT = 0,

    CURLOPT_WRITEDATA = 10001,
    CURLOPT_READDATA = 10009,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_READFUNCTION = 20012,
    CURLOPT_SEEKFUNCTION = 20167,
    CURLOPT_SSL_CTX_FUNCTION = 20108,
    CURLOPT_SSL_CTX_DATA = 10109,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_NOPROGRESS = 43,
    CURLOPT_DEBUGFUNCTION = 20094,
    CURLOPT_DEBUGDATA = 10095,
    CURLINFO_TEXT = 0,
    CURLOPT_POST = 47,
    CURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CURLOPT_XFERINFODATA = 10057,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_SHARE = 10100,
    CURLOPT_PRIVATE = 10103,
    CURLOPT_CURLU = 10282,
    CURLOPT_OPENSOCKETFUNCTION = 20163,
    CURLOPT_OPENSOCKETDATA = 10164,
    CURLOPT_CLOSESOCKETFUNCTION = 20208,
    CURLOPT_CLOSESOCKETDATA = 10209,
    CURLOPT_XFERINFOFUNCTION = 20219,
    CURLOPT_PATH_AS_IS = 234,
    CURLOPT_PROTOCOLS = 181,
    CURLPROTO_HTTP_AND_HTTPS = 3,
    CURLOPT_PREREQFUNCTION = 20312,
    CURLOPT_PREREQDATA = 10313,

    CURLMOPT_SOCKETFUNCTION = 20001,
    CURLMOPT_SOCKETDATA = 10002,
    CURLMOPT_TIMERFUNCTION = 20004,
    CURLMOPT_TIMERDATA = 10005,

    CURLINFO_PRIVATE = 0x100000 + 21,
    CURLINFO_CAINFO = 0x100000 + 61,
    CURLINFO_TLS_SSL_PTR = 0x400000 + 45,
    CURLSSLBACKEND_OPENSSL = 1,
    SSL_RECEIVED_SHUTDOWN = 2,
    SSL_CTRL_SET_MSG_CALLBACK_ARG = 16,
    SSL3_RT_APPLICATION_DATA = 23,
    SSL3_RT_HEADER = 256,
    SSL3_RT_INNER_CONTENT_TYPE = 257,

    CURLSHOPT_SHARE = 1,
    CURL_LOCK_DATA_SSL_SESSION = 4,

    CURLUPART_URL = 0,
    CURLU_PATH_AS_IS = 1 << 4,

    CURL_SOCKET_BAD = -1,
};

static struct {
    int (*global_init)(long);
    struct curl_version_info *(*version_info)(int);
    atom_curl_easy (*easy_init)(void);
    void (*easy_cleanup)(atom_curl_easy);
    void (*easy_reset)(atom_curl_easy);
    int (*easy_setopt)(atom_curl_easy, int, ...);
    int (*easy_getinfo)(atom_curl_easy, int, ...);
    int (*easy_pause)(atom_curl_easy, int);
    const char *(*easy_strerror)(int);
    atom_curl_multi (*multi_init)(void);
    int (*multi_cleanup)(atom_curl_multi);
    int (*multi_setopt)(atom_curl_multi, int, ...);
    int (*multi_add_handle)(atom_curl_multi, atom_curl_easy);
    int (*multi_remove_handle)(atom_curl_multi, atom_curl_easy);
    int (*multi_socket_action)(atom_curl_multi, int, int, int *);
    struct curl_message *(*multi_info_read)(atom_curl_multi, int *);
    atom_curl_share (*share_init)(void);
    int (*share_setopt)(atom_curl_share, int, ...);
    int (*share_cleanup)(atom_curl_share);
    atom_curl_url (*url)(void);
    int (*url_set)(atom_curl_url, int, const char *, unsigned int);
    void (*url_cleanup)(atom_curl_url);
} curl;

static struct {
    int (*begin)(struct zlib_stream *, int, const char *, int);
    int (*inflate)(struct zlib_stream *, int);
    int (*reset)(struct zlib_stream *);
    int (*end)(struct zlib_stream *);
    const char *(*version)(void);
} zlib;

// Of OpenSSL, if it is what libcurl uses.
static int (*ssl_has_pending)(const void *) = NULL;
static void (*ssl_get0_alpn_selected)(const void *, const uint8_t **, unsigned int *) = NULL;
static int (*ssl_get_shutdown)(const void *) = NULL;
static int (*ssl_version)(const void *) = NULL;
typedef void ssl_message(int, int, int, const void *, size_t, void *, void *);
static void (*ssl_set_msg_callback)(void *, ssl_message *) = NULL;
static void (*ssl_ctx_set_msg_callback)(void *, ssl_message *) = NULL;
static long (*ssl_ctx_ctrl)(void *, int, long, void *) = NULL;

static struct atom_curl_version version = {.text = ""};
static char *default_authorities = NULL;
static pthread_once_t loading = PTHREAD_ONCE_INIT;

// MARK: - Loading

struct wanted {
    const char *name;
    void **function;
};

static bool find(void *library, const struct wanted *wanted, size_t count) {
    for (size_t index = 0; index < count; index++) {
        *wanted[index].function = dlsym(library, wanted[index].name);
        if (*wanted[index].function == NULL) return false;
    }
    return true;
}

static bool find_functions(void *library) {
    const struct wanted wanted[] = {
        {"curl_global_init", (void **)&curl.global_init},
        {"curl_version_info", (void **)&curl.version_info},
        {"curl_easy_init", (void **)&curl.easy_init},
        {"curl_easy_cleanup", (void **)&curl.easy_cleanup},
        {"curl_easy_reset", (void **)&curl.easy_reset},
        {"curl_easy_setopt", (void **)&curl.easy_setopt},
        {"curl_easy_getinfo", (void **)&curl.easy_getinfo},
        {"curl_easy_pause", (void **)&curl.easy_pause},
        {"curl_easy_strerror", (void **)&curl.easy_strerror},
        {"curl_multi_init", (void **)&curl.multi_init},
        {"curl_multi_cleanup", (void **)&curl.multi_cleanup},
        {"curl_multi_setopt", (void **)&curl.multi_setopt},
        {"curl_multi_add_handle", (void **)&curl.multi_add_handle},
        {"curl_multi_remove_handle", (void **)&curl.multi_remove_handle},
        {"curl_multi_socket_action", (void **)&curl.multi_socket_action},
        {"curl_multi_info_read", (void **)&curl.multi_info_read},
        {"curl_share_init", (void **)&curl.share_init},
        {"curl_share_setopt", (void **)&curl.share_setopt},
        {"curl_share_cleanup", (void **)&curl.share_cleanup},
        {"curl_url", (void **)&curl.url},
        {"curl_url_set", (void **)&curl.url_set},
        {"curl_url_cleanup", (void **)&curl.url_cleanup},
    };
    return find(library, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

// libcurl has loaded it, too; without it nothing compressed is asked for.
static bool find_zlib(void) {
    const struct wanted wanted[] = {
        {"inflateInit2_", (void **)&zlib.begin}, {"inflate", (void **)&zlib.inflate},
        {"inflateReset", (void **)&zlib.reset},  {"inflateEnd", (void **)&zlib.end},
        {"zlibVersion", (void **)&zlib.version},
    };
    const size_t count = sizeof(wanted) / sizeof(wanted[0]);
    void *library = dlopen("libz.so.1", RTLD_LAZY | RTLD_LOCAL);
    return (library != NULL && find(library, wanted, count)) || find(RTLD_DEFAULT, wanted, count);
}

// MARK: - The end of the process

// `exit` runs the cleanup of the TLS library while other threads go on. A
// thread that is inside libcurl then may crash the process at its end, so the
// end waits for these threads, and lets none in.
static int inside = 0;
static bool is_exiting = false;

static void enter(void) {
    __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&is_exiting, __ATOMIC_SEQ_CST)) return;
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    for (;;) pause();
}

static void leave(void) { __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST); }

static void wait_for_threads(void) {
    __atomic_store_n(&is_exiting, true, __ATOMIC_SEQ_CST);
    const struct timespec millisecond = {0, 1000000};
    // A second at most: a name that is being looked up could hold it up.
    for (int waits = 0; waits < 1000 && __atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0; waits++) {
        nanosleep(&millisecond, NULL);
    }
}

static int forks = 0;

static void count_fork(void) {
    __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
    // The threads that were inside are the parent's.
    __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
}

static void load(void) {
    pthread_atfork(NULL, NULL, count_fork);
    // Foundation has loaded this one; RTLD_DEFAULT finds one that is linked
    // into the program. The first comes first, so that all functions are of one
    // library, also where another build of libcurl is loaded.
    void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL || !find_functions(library)) {
        library = RTLD_DEFAULT;
        if (!find_functions(library)) return;
    }
    // Searched for among what this libcurl was linked with.
    *(void **)&ssl_has_pending = dlsym(library, "SSL_has_pending");
    *(void **)&ssl_get0_alpn_selected = dlsym(library, "SSL_get0_alpn_selected");
    *(void **)&ssl_get_shutdown = dlsym(library, "SSL_get_shutdown");
    *(void **)&ssl_version = dlsym(library, "SSL_version");
    *(void **)&ssl_set_msg_callback = dlsym(library, "SSL_set_msg_callback");
    *(void **)&ssl_ctx_set_msg_callback = dlsym(library, "SSL_CTX_set_msg_callback");
    *(void **)&ssl_ctx_ctrl = dlsym(library, "SSL_CTX_ctrl");
    if (curl.global_init(CURL_GLOBAL_ALL) != 0) return;
    // Registered after the TLS library's cleanup, so it runs before.
    atexit(wait_for_threads);
    struct curl_version_info *info = curl.version_info(CURLVERSION_FIRST);
    if (info == NULL) return;
    version.text = info->version;
    version.has_http2 = (info->features & CURL_VERSION_HTTP2) != 0;
    version.has_tls = (info->features & CURL_VERSION_SSL) != 0;
    version.has_zlib = find_zlib();
    version.number = info->version_num;
    // Asked for once: the text belongs to the transfer that is asked.
    atom_curl_easy easy = curl.easy_init();
    if (easy == NULL) return;
    char *path = NULL;
    if (curl.easy_getinfo(easy, CURLINFO_CAINFO, &path) == 0 && path != NULL) default_authorities = strdup(path);
    curl.easy_cleanup(easy);
}

const char *atom_curl_default_authorities(void) { return default_authorities; }

struct atom_curl_version atom_curl_load(void) {
    pthread_once(&loading, load);
    return version;
}

// MARK: - Transfers

// Foundation's sockets and libcurl's own are inherited by programs that the
// app starts; these are not.
static int open_socket(void *context, int purpose, struct curl_address *address) {
    (void)purpose;
    const struct atom_curl_owner *owner = context;
    if (!owner->callbacks->connect(owner->context)) return CURL_SOCKET_BAD;
    int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    int result = descriptor < 0 ? -errno : descriptor;
    char host[64] = "", port[8] = "";
    getnameinfo(&address->address, address->length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    owner->callbacks->opened(owner->context, result, host, atoi(port));
    return descriptor;
}

static int close_socket(void *context, int descriptor) {
    const struct atom_curl_watcher *watcher = context;
    watcher->closing(watcher->context, descriptor);
    return close(descriptor);
}

static void *context_of(atom_curl_easy easy) {
    struct atom_curl_owner *owner = NULL;
    // libcurl's own transfers have none.
    if (curl.easy_getinfo(easy, CURLINFO_PRIVATE, &owner) != 0 || owner == NULL) return NULL;
    return owner->context;
}

int atom_curl_report_progress(atom_curl_easy easy, struct atom_curl_owner *owner) {
    return curl.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, owner->callbacks->progress) |
           curl.easy_setopt(easy, CURLOPT_XFERINFODATA, owner->context) |
           curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

// Hears what libcurl has to say to people: of some things it says nothing else.
static int took_text(atom_curl_easy easy, int kind, char *bytes, size_t length, void *context) {
    (void)easy;
    const char stream[] = "Using Stream ID: ", goodbye[] = "recveived GOAWAY, error=", last[] = "last_stream=";
    if (kind != CURLINFO_TEXT) return 0;
    const struct atom_curl_owner *owner = context;
    char text[64] = "";
    memcpy(text, bytes, length < sizeof(text) ? length : sizeof(text) - 1);
    if (strncmp(text, stream, sizeof(stream) - 1) == 0) {
        owner->callbacks->began(owner->context, (unsigned int)strtoul(text + sizeof(stream) - 1, NULL, 10));
    } else if (strncmp(text, goodbye, sizeof(goodbye) - 1) == 0) {
        const char *number = strstr(text, last);
        if (number == NULL) return 0;
        owner->callbacks->leaves(owner->context, (unsigned int)strtoul(number + sizeof(last) - 1, NULL, 10));
    }
    return 0;
}

atom_curl_easy atom_curl_easy_make(
    atom_curl_easy easy, struct atom_curl_owner *owner, const struct atom_curl_watcher *watcher, char *error_buffer) {
    if (easy != NULL) {
        curl.easy_reset(easy);
    } else {
        easy = curl.easy_init();
    }
    if (easy == NULL) return NULL;
    int failed = 0;
    failed |= curl.easy_setopt(easy, CURLOPT_PRIVATE, owner);
    failed |= curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, error_buffer);
    failed |= curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, owner->callbacks->header);
    failed |= curl.easy_setopt(easy, CURLOPT_HEADERDATA, owner->context);
    failed |= curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, owner->callbacks->write);
    failed |= curl.easy_setopt(easy, CURLOPT_WRITEDATA, owner->context);
    failed |= curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    failed |= curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, owner);
    // A connection keeps these two, and outlives the transfer.
    failed |= curl.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    failed |= curl.easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, watcher);
    if (version.number >= 0x075000) {
        failed |= curl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, owner->callbacks->prepare);
        failed |= curl.easy_setopt(easy, CURLOPT_PREREQDATA, owner->context);
    } else {
        failed |= atom_curl_report_progress(easy, owner);
    }
    if (version.number >= 0x075800 && version.number < 0x080100) {
        failed |= curl.easy_setopt(easy, CURLOPT_DEBUGFUNCTION, took_text);
        failed |= curl.easy_setopt(easy, CURLOPT_DEBUGDATA, owner);
    }
    // No signal handlers: other threads may use the same ones.
    failed |= curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    failed |= curl.easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    failed |= curl.easy_setopt(easy, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTP_AND_HTTPS);
    // A large body takes fewer calls of the system; libcurl's own is 16 KiB. A handle
    // that still has a buffer, which may be after a failure, takes no other size.
    curl.easy_setopt(easy, CURLOPT_BUFFERSIZE, 65536L);
    if (failed == 0) return easy;
    curl.easy_cleanup(easy);
    return NULL;
}

// libcurl rewinds a body before it says that it is about to send it again, and is stopped then.
static int rewind_body(void *context, int64_t offset, int origin) {
    (void)context;
    (void)offset;
    (void)origin;
    return 0;
}

void atom_curl_set_body(atom_curl_easy easy, struct atom_curl_owner *owner, int64_t size) {
    curl.easy_setopt(easy, CURLOPT_POST, 1L);
    curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, size);
    curl.easy_setopt(easy, CURLOPT_READFUNCTION, owner->callbacks->read);
    curl.easy_setopt(easy, CURLOPT_READDATA, owner->context);
    if (version.number >= 0x075000) curl.easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_body);
    if (size != 0) atom_curl_report_progress(easy, owner);
}

void atom_curl_set_share(atom_curl_easy easy, atom_curl_share share) { curl.easy_setopt(easy, CURLOPT_SHARE, share); }

atom_curl_easy atom_curl_easy_plain(void) { return curl.easy_init(); }

void atom_curl_easy_free(atom_curl_easy easy) {
    enter();
    curl.easy_cleanup(easy);
    leave();
}

atom_curl_url atom_curl_url_make(const char *text) {
    atom_curl_url url = curl.url();
    if (url != NULL && curl.url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS) != 0) {
        curl.url_cleanup(url);
        return NULL;
    }
    return url;
}

void atom_curl_url_free(atom_curl_url url) { curl.url_cleanup(url); }

int atom_curl_set_parsed_url(atom_curl_easy easy, atom_curl_url url) {
    return curl.easy_setopt(easy, CURLOPT_CURLU, url);
}

int atom_curl_set_long(atom_curl_easy easy, int option, long value) { return curl.easy_setopt(easy, option, value); }

int atom_curl_set_text(atom_curl_easy easy, int option, const char *value) {
    return curl.easy_setopt(easy, option, value);
}

int atom_curl_set_list(atom_curl_easy easy, int option, struct atom_curl_list *value) {
    return curl.easy_setopt(easy, option, value);
}

long atom_curl_get_long(atom_curl_easy easy, int info) {
    long value = -1;
    return curl.easy_getinfo(easy, info, &value) == 0 ? value : -1;
}

int64_t atom_curl_get_offset(atom_curl_easy easy, int info) {
    int64_t value = -1;
    return curl.easy_getinfo(easy, info, &value) == 0 ? value : -1;
}

const char *atom_curl_get_text(atom_curl_easy easy, int info) {
    const char *text = NULL;
    return curl.easy_getinfo(easy, info, &text) == 0 ? text : NULL;
}

// OpenSSL's session of the transfer's connection, if it is OpenSSL's.
static void *session_of(atom_curl_easy easy) {
    struct curl_tls_session *session = NULL;
    if (curl.easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != 0 || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

int atom_curl_tls_surplus(atom_curl_easy easy) {
    void *session = ssl_has_pending == NULL ? NULL : session_of(easy);
    // Not `SSL_pending`: libcurl 8.15 lets OpenSSL read ahead, and then whole records
    // may lie there undecrypted.
    return session == NULL ? -1 : ssl_has_pending(session) != 0;
}

int atom_curl_tls_speaks_http2(atom_curl_easy easy) {
    void *session = ssl_get0_alpn_selected == NULL ? NULL : session_of(easy);
    if (session == NULL) return -1;
    const uint8_t *protocol = NULL;
    unsigned int length = 0;
    ssl_get0_alpn_selected(session, &protocol, &length);
    return length == 2 && memcmp(protocol, "h2", 2) == 0;
}

int atom_curl_tls_has_ended(atom_curl_easy easy) {
    void *session = ssl_get_shutdown == NULL ? NULL : session_of(easy);
    return session == NULL ? -1 : (ssl_get_shutdown(session) & SSL_RECEIVED_SHUTDOWN) != 0;
}

// Hears of each record that a session writes or reads.
static void took_record(
    int is_written, int version, int kind, const void *bytes, size_t length, void *session, void *context) {
    (void)version;
    // TLS 1.3 hides within a record what it contains.
    int wanted = ssl_version(session) >= 0x0304 ? SSL3_RT_INNER_CONTENT_TYPE : SSL3_RT_HEADER;
    if (is_written || kind != wanted || length == 0) return;
    if (*(const uint8_t *)bytes != SSL3_RT_APPLICATION_DATA) return;
    const struct atom_curl_watcher *watcher = context;
    if (watcher->heard(watcher->context, session)) ssl_set_msg_callback(session, NULL);
}

static int set_up_tls(atom_curl_easy easy, void *ssl_context, void *watcher) {
    (void)easy;
    ssl_ctx_ctrl(ssl_context, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, watcher);
    ssl_ctx_set_msg_callback(ssl_context, took_record);
    return 0;
}

void atom_curl_tls_listen(atom_curl_easy easy, const struct atom_curl_watcher *watcher) {
    if (ssl_version == NULL || ssl_set_msg_callback == NULL) return;
    if (ssl_ctx_set_msg_callback == NULL || ssl_ctx_ctrl == NULL) return;
    // Before the handshake: OpenSSL 3.2 looks for it only then.
    curl.easy_setopt(easy, CURLOPT_SSL_CTX_DATA, watcher);
    curl.easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_up_tls);
}

const void *atom_curl_tls_session(atom_curl_easy easy) {
    return ssl_ctx_ctrl == NULL ? NULL : session_of(easy);
}

// `struct curl_certinfo`, and `CURLINFO_CERTINFO`.
struct curl_certificates {
    int count;
    struct atom_curl_list **lines;
};

const struct atom_curl_list *atom_curl_get_certificate(atom_curl_easy easy) {
    struct curl_certificates *certificates = NULL;
    if (curl.easy_getinfo(easy, 0x400000 + 34, &certificates) != 0 || certificates == NULL) return NULL;
    return certificates->count > 0 ? certificates->lines[0] : NULL;
}

int atom_curl_easy_continue(atom_curl_easy easy) {
    enter();
    int result = curl.easy_pause(easy, CURLPAUSE_CONT);
    leave();
    return result;
}

const char *atom_curl_meaning(int code) { return curl.easy_strerror(code); }

// MARK: - Sets of transfers

static int watch_socket(atom_curl_easy easy, int descriptor, int what, void *context, void *unused) {
    (void)unused;
    const struct atom_curl_watcher *watcher = context;
    watcher->watch(watcher->context, descriptor, what, context_of(easy));
    return 0;
}

static int set_timer(atom_curl_multi multi, long milliseconds, void *context) {
    (void)multi;
    const struct atom_curl_watcher *watcher = context;
    watcher->timer(watcher->context, milliseconds);
    return 0;
}

atom_curl_multi atom_curl_multi_make(const struct atom_curl_watcher *watcher) {
    atom_curl_multi multi = curl.multi_init();
    if (multi == NULL) return NULL;
    curl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl.multi_setopt(multi, CURLMOPT_SOCKETDATA, watcher);
    curl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl.multi_setopt(multi, CURLMOPT_TIMERDATA, watcher);
    return multi;
}

void atom_curl_multi_set(atom_curl_multi multi, int option, long value) { curl.multi_setopt(multi, option, value); }

void atom_curl_multi_free(atom_curl_multi multi) {
    enter();
    curl.multi_cleanup(multi);
    leave();
}

int atom_curl_multi_add(atom_curl_multi multi, atom_curl_easy easy) { return curl.multi_add_handle(multi, easy); }

int atom_curl_multi_remove(atom_curl_multi multi, atom_curl_easy easy) {
    enter();
    int result = curl.multi_remove_handle(multi, easy);
    leave();
    return result;
}

void atom_curl_multi_act(atom_curl_multi multi, int descriptor, int events) {
    int running = 0;
    enter();
    curl.multi_socket_action(multi, descriptor, events, &running);
    leave();
}

void *atom_curl_multi_next_ended(atom_curl_multi multi, int *code) {
    int left = 0;
    for (;;) {
        struct curl_message *message = curl.multi_info_read(multi, &left);
        if (message == NULL) return NULL;
        if (message->kind != CURLMSG_DONE) continue;
        *code = message->data.result;
        void *context = context_of(message->easy);
        if (context != NULL) return context;
    }
}

int atom_curl_bell_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void atom_curl_bell_free(int bell) { close(bell); }

bool atom_curl_has_descriptors(int bell) {
    int others[8];
    const int wanted = sizeof(others) / sizeof(others[0]);
    int count = 0;
    while (count < wanted && (others[count] = fcntl(bell, F_DUPFD_CLOEXEC, 0)) >= 0) count++;
    for (int index = 0; index < count; index++) close(others[index]);
    return count == wanted;
}

void atom_curl_bell_hush(int bell) {
    uint64_t rings;
    (void)!read(bell, &rings, sizeof(rings));
}

void atom_curl_bell_ring(int bell) {
    const uint64_t once = 1;
    // It fails only when the counter is full, and then the bell rings anyway.
    (void)!write(bell, &once, sizeof(once));
}

int64_t atom_curl_socket_read_count(int descriptor) {
    // `struct tcp_info` of Linux, which only grows at its end: its 17th is `tcpi_bytes_received`.
    uint64_t figures[17];
    unsigned int length = sizeof(figures);
    int unread = 0;
    if (getsockopt(descriptor, IPPROTO_TCP, 11 /* TCP_INFO */, figures, &length) != 0) return -1;
    if (length < sizeof(figures) || ioctl(descriptor, FIONREAD, &unread) != 0) return -1;
    return (int64_t)figures[16] - unread;
}

atom_curl_share atom_curl_share_make(void) {
    atom_curl_share share = curl.share_init();
    if (share != NULL) curl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    return share;
}

void atom_curl_share_free(atom_curl_share share) { curl.share_cleanup(share); }

// MARK: - Waiting

int atom_poll_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

void atom_poll_free(int poll) { close(poll); }

void atom_poll_watch(int poll, int descriptor, int events, int before) {
    struct epoll_event event = {.data.fd = descriptor};
    if (events & ATOM_CURL_POLL_IN) event.events |= EPOLLIN | EPOLLRDHUP;
    if (events & ATOM_CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(poll, before == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD, descriptor, &event);
}

int atom_poll_wait(int poll, struct atom_ready *ready, int count, int milliseconds) {
    struct epoll_event events[64];
    int found = epoll_wait(poll, events, count < 64 ? count : 64, milliseconds);
    for (int index = 0; index < found; index++) {
        unsigned int flags = events[index].events;
        // libcurl finds an error itself when it reads or writes.
        bool is_broken = (flags & (EPOLLERR | EPOLLHUP)) != 0;
        ready[index].descriptor = events[index].data.fd;
        ready[index].events = (is_broken || (flags & (EPOLLIN | EPOLLRDHUP)) ? ATOM_CURL_POLL_IN : 0) |
                              (is_broken || (flags & EPOLLOUT) ? ATOM_CURL_POLL_OUT : 0);
    }
    return found;
}

// MARK: - zlib

struct atom_inflater *atom_inflater_make(int window_bits) {
    struct zlib_stream *stream = calloc(1, sizeof(*stream));
    if (stream == NULL) return NULL;
    if (zlib.begin(stream, window_bits, zlib.version(), sizeof(*stream)) == 0) return (struct atom_inflater *)stream;
    free(stream);
    return NULL;
}

int atom_inflate(
    struct atom_inflater *inflater, const uint8_t **input, size_t *input_left, uint8_t *output, size_t *output_left) {
    struct zlib_stream *stream = (struct zlib_stream *)inflater;
    stream->next_in = *input;
    stream->avail_in = (unsigned int)*input_left;
    stream->next_out = output;
    stream->avail_out = (unsigned int)*output_left;
    int result = zlib.inflate(stream, 0 /* Z_NO_FLUSH */);
    *input = stream->next_in;
    *input_left = stream->avail_in;
    *output_left = stream->avail_out;
    return result;
}

int atom_inflater_reset(struct atom_inflater *inflater) { return zlib.reset((struct zlib_stream *)inflater); }

void atom_inflater_free(struct atom_inflater *inflater) {
    zlib.end((struct zlib_stream *)inflater);
    free(inflater);
}

// MARK: - The system

struct thread_start {
    void (*body)(void *);
    void *context;
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), "AtomNetworking");
    start.body(start.context);
    return NULL;
}

int atom_curl_start_thread(void (*body)(void *), void *context) {
    struct thread_start *start = malloc(sizeof(*start));
    if (start == NULL) return -1;
    start->body = body;
    start->context = context;
    // The new thread inherits the mask: the app's signal handlers run on its
    // own threads, and a connection that breaks raises no SIGPIPE here.
    sigset_t all, before;
    sigfillset(&all);
    // What a fault of the thread itself raises goes to the app's crash reporter.
    const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t index = 0; index < sizeof(faults) / sizeof(faults[0]); index++) sigdelset(&all, faults[index]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    int result = pthread_create(&thread, &attributes, run_thread, start);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0) free(start);
    return result;
}

int atom_curl_forks(void) { return __atomic_load_n(&forks, __ATOMIC_RELAXED); }

int atom_curl_memory_file(const void *bytes, size_t length) {
    // Older versions of the C library have no function for it.
    int descriptor = (int)syscall(SYS_memfd_create, "AtomNetworking", 1U /* MFD_CLOEXEC */);
    if (descriptor < 0) return -1;
    const char *next = bytes;
    while (length > 0) {
        ssize_t written = write(descriptor, next, length);
        if (written <= 0) {
            close(descriptor);
            return -1;
        }
        next += written;
        length -= (size_t)written;
    }
    return descriptor;
}

void atom_curl_memory_file_free(int descriptor) { close(descriptor); }

#endif
