// What the SDK uses of libcurl, found at run time.
//
// Nothing has to be installed to compile this: it declares the parts of
// libcurl's stable ABI (libcurl.so.4) that are used. C makes the calls, because
// some of the functions are variadic, and no calling convention is guessed.

#ifndef CATOMCURL_H
#define CATOMCURL_H

#if defined(__linux__)

// It is said only of what libcurl gives to callbacks.
#pragma clang diagnostic ignored "-Wnullability-completeness"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A transfer (`CURL *`).
typedef struct atom_curl_easy *atom_curl_easy;
/// A set of transfers with their connections (`CURLM *`).
typedef struct atom_curl_multi *atom_curl_multi;

/// Shares the TLS sessions of the transfers of one thread (`CURLSH *`).
typedef struct atom_curl_share *atom_curl_share;

/// A parsed URL (`CURLU *`).
typedef struct atom_curl_url *atom_curl_url;

/// A list of header lines (`struct curl_slist`).
struct atom_curl_list {
    char *data;
    struct atom_curl_list *next;
};

/// What libcurl is, once it has been found.
struct atom_curl_version {
    /// Its version, for example 0x075801 for 7.88.1; zero if it isn't there.
    unsigned int number;
    /// Whether it speaks HTTP/2.
    bool has_http2;
    /// Whether it speaks TLS.
    bool has_tls;
    /// Whether zlib is there, which decodes gzip and deflate.
    bool has_zlib;
    /// The version as text; empty if libcurl isn't there.
    const char *text;
};

/// Finds libcurl and its functions, once for the process, and prepares it.
///
/// The number of the result is zero if libcurl isn't there, or lacks a
/// function that is needed.
struct atom_curl_version atom_curl_load(void);

// The functions below may be called only after `atom_curl_load` has found
// libcurl. One thread at a time uses a transfer, and the set that it is in.

#pragma clang assume_nonnull begin

/// The callbacks of a transfer; `context` is the owner's. They are called on the thread that performs.
struct atom_curl_callbacks {
    /// A line of a head or of trailers, with its end; anything but `length`
    /// ends the transfer.
    size_t (*header)(char *bytes, size_t size, size_t length, void *context);
    /// A part of the body; anything but `length` ends the transfer, except
    /// `ATOM_CURL_WRITE_PAUSE`.
    size_t (*write)(char *bytes, size_t size, size_t length, void *context);
    /// Fills the buffer with the next part of the request's body.
    size_t (*read)(char *bytes, size_t size, size_t length, void *context);
    /// The request is sent next, from this port of this machine; anything but
    /// zero ends the transfer. Called since libcurl 7.80.
    int (*prepare)(void *context, char *, char *, int, int local_port);
    /// The bytes of the request's body that have been sent; anything but zero
    /// ends the transfer. Called of a transfer with a body or with
    /// `atom_curl_report_progress`; before libcurl 7.80 always, after each step.
    int (*progress)(void *context, int64_t, int64_t, int64_t total, int64_t sent);
    /// Whether a new connection may be opened.
    bool (*connect)(void *context);
    /// A socket to this address has been opened for the transfer, or the system has
    /// none: then it is the negative error number.
    void (*opened)(void *context, int descriptor, const char *address, int port);
    /// The request is sent as this stream of HTTP/2. This one and the next are called only from libcurl 7.88 to 8.0, of
    /// a transfer with `ATOM_CURLOPT_VERBOSE`.
    void (*began)(void *context, unsigned int stream);
    /// The server has said that it processes no later stream of the connection that the transfer has.
    void (*leaves)(void *context, unsigned int stream);
};

#pragma clang assume_nonnull end

#define ATOM_CURL_WRITE_PAUSE 0x10000001
#define ATOM_CURL_READ_ABORT 0x10000000
#define ATOM_CURL_READ_PAUSE 0x10000001

/// Whom a transfer calls.
struct atom_curl_owner {
    const struct atom_curl_callbacks *callbacks;
    void *context;
};

/// What a set of transfers tells whoever waits for its sockets; `context` is
/// passed to each. They are called on the thread that performs.
struct atom_curl_watcher {
    void *context;
    /// The socket is to be watched for `ATOM_CURL_POLL_IN` and
    /// `ATOM_CURL_POLL_OUT`, or not any more; `transfer` is the context of the
    /// owner that wants it, `NULL` for libcurl itself.
    void (*watch)(void *context, int descriptor, int what, void *transfer);
    /// Time is up in so many milliseconds; never, if it is negative.
    void (*timer)(void *context, long milliseconds);
    /// A socket that was reported as opened is closed next.
    void (*closing)(void *context, int descriptor);
    /// The server has sent something within TLS; returns whether the session need not be listened to any more.
    bool (*heard)(void *context, const void *session);
};

#define ATOM_CURL_POLL_IN 1
#define ATOM_CURL_POLL_OUT 2
#define ATOM_CURL_POLL_REMOVE 4

/// Makes a transfer, with everything switched off that the SDK does itself;
/// `NULL` if there is no memory.
///
/// The owner must live as long as the transfer, and the watcher as long as the
/// set. With a transfer of before, nothing is made: its options are set anew.
atom_curl_easy atom_curl_easy_make(
    atom_curl_easy before, struct atom_curl_owner *owner, const struct atom_curl_watcher *watcher, char *error_buffer);
/// Adds a body of this size, which is read when it is sent.
void atom_curl_set_body(atom_curl_easy easy, struct atom_curl_owner *owner, int64_t size);
/// Makes the transfer report its progress; returns a `CURLcode`.
int atom_curl_report_progress(atom_curl_easy easy, struct atom_curl_owner *owner);
/// Lets the transfer share TLS sessions.
void atom_curl_set_share(atom_curl_easy easy, atom_curl_share share);
/// Makes a transfer that is only for trying options; `NULL` without memory.
atom_curl_easy atom_curl_easy_plain(void);
void atom_curl_easy_free(atom_curl_easy easy);

/// Parses a URL for the transfers that follow; `NULL` if it can't be parsed.
atom_curl_url atom_curl_url_make(const char *text);
void atom_curl_url_free(atom_curl_url url);
/// Sets the parsed form of the URL that is set as text, or `NULL`. It must live
/// as long as it is set.
int atom_curl_set_parsed_url(atom_curl_easy easy, atom_curl_url url);

// Options (`curl_easy_setopt`), which return a `CURLcode`.
int atom_curl_set_long(atom_curl_easy easy, int option, long value);
int atom_curl_set_text(atom_curl_easy easy, int option, const char *value);
int atom_curl_set_list(atom_curl_easy easy, int option, struct atom_curl_list *value);

/// A figure of the transfer (`curl_easy_getinfo`); -1 if it isn't known.
long atom_curl_get_long(atom_curl_easy easy, int info);
/// A time or a size of the transfer (`curl_off_t`); -1 if it isn't known.
int64_t atom_curl_get_offset(atom_curl_easy easy, int info);
/// A text about the transfer, valid until the next use of the handle; `NULL` if
/// it isn't known.
const char *atom_curl_get_text(atom_curl_easy easy, int info);
/// What the server's certificate says, as lines such as `Subject:CN = a`; `NULL`
/// if it isn't known. It lives until the transfer is used again.
const struct atom_curl_list *atom_curl_get_certificate(atom_curl_easy easy);

/// Whether TLS has read more from the transfer's connection than libcurl has taken;
/// -1 if it can't be told. Only while the transfer has a connection.
int atom_curl_tls_surplus(atom_curl_easy easy);

/// Whether TLS has agreed on HTTP/2 for the transfer's connection; -1 if it can't be
/// told. Only while the transfer has a connection.
int atom_curl_tls_speaks_http2(atom_curl_easy easy);

/// Whether the server has said within TLS that nothing follows on the transfer's
/// connection; -1 if it can't be told. Only while the transfer has a connection.
int atom_curl_tls_has_ended(atom_curl_easy easy);

/// Lets the watcher hear of what comes over the connections that the transfer opens, if TLS is OpenSSL's.
void atom_curl_tls_listen(atom_curl_easy easy, const struct atom_curl_watcher *watcher);
/// OpenSSL's session of the transfer's connection; `NULL` if there is none to listen to.
const void *atom_curl_tls_session(atom_curl_easy easy);

/// Lets a paused transfer go on.
int atom_curl_easy_continue(atom_curl_easy easy);
/// The meaning of a `CURLcode`.
const char *atom_curl_meaning(int code);

/// Makes a set of transfers; `NULL` if there is no memory.
///
/// The watcher must live as long as the set.
atom_curl_multi atom_curl_multi_make(const struct atom_curl_watcher *watcher);
void atom_curl_multi_set(atom_curl_multi multi, int option, long value);
void atom_curl_multi_free(atom_curl_multi multi);
int atom_curl_multi_add(atom_curl_multi multi, atom_curl_easy easy);
int atom_curl_multi_remove(atom_curl_multi multi, atom_curl_easy easy);
/// Lets libcurl work on a socket that is ready for `ATOM_CURL_POLL_IN` or
/// `ATOM_CURL_POLL_OUT`, or on what its timer was set for, with
/// `ATOM_CURL_TIMER` and 0.
void atom_curl_multi_act(atom_curl_multi multi, int descriptor, int events);
#define ATOM_CURL_TIMER (-1)
/// The context of the next transfer that has ended, and its `CURLcode`; `NULL`
/// if there is none.
void *atom_curl_multi_next_ended(atom_curl_multi multi, int *code);

/// Makes what wakes a waiting thread; a descriptor, or -1.
///
/// It outlives the set, so a late ring is harmless. `curl_multi_wakeup` would
/// need a set that still exists.
int atom_curl_bell_make(void);
void atom_curl_bell_free(int bell);
/// Ends the waiting of another thread, or its next one. Any thread calls it.
void atom_curl_bell_ring(int bell);
/// Whether the process could open as many more descriptors as a lookup of a name
/// needs.
bool atom_curl_has_descriptors(int bell);
/// Takes the rings that have been heard.
void atom_curl_bell_hush(int bell);

/// How many bytes of a connection of TCP this process has read; -1 if it can't be told.
int64_t atom_curl_socket_read_count(int descriptor);

/// A descriptor that is ready for `ATOM_CURL_POLL_IN` and `ATOM_CURL_POLL_OUT`.
struct atom_ready {
    int descriptor;
    int events;
};

/// Makes what waits for many descriptors at once, however many are idle (epoll);
/// -1 if the process has no descriptors left.
int atom_poll_make(void);
void atom_poll_free(int poll);
/// Waits for other events of a descriptor than before; 0 for none.
void atom_poll_watch(int poll, int descriptor, int events, int before);
/// Waits for so many milliseconds, without a limit if they are negative; returns
/// how many descriptors are ready, at most 64.
int atom_poll_wait(int poll, struct atom_ready *ready, int count, int milliseconds);

/// Decodes gzip, zlib's format or deflate (RFC 1950 to 1952); see `inflate` of
/// zlib.
struct atom_inflater;
/// `NULL` if there is no memory.
struct atom_inflater *atom_inflater_make(int window_bits);
/// The result is zlib's; the pointers and sizes are moved on.
int atom_inflate(
    struct atom_inflater *inflater, const uint8_t **input, size_t *input_left, uint8_t *output, size_t *output_left);
int atom_inflater_reset(struct atom_inflater *inflater);
void atom_inflater_free(struct atom_inflater *inflater);

atom_curl_share atom_curl_share_make(void);
void atom_curl_share_free(atom_curl_share share);

/// Runs the body on a new thread that gets no signals; zero, or an error
/// number.
int atom_curl_start_thread(void (*body)(void *), void *context);

/// How often this process has been forked from another one since the SDK was
/// first used.
int atom_curl_forks(void);

/// A file in memory with these bytes; its descriptor, or -1.
int atom_curl_memory_file(const void *bytes, size_t length);
void atom_curl_memory_file_free(int descriptor);

/// The file of the certificate authorities that libcurl trusts by default;
/// `NULL` before libcurl 7.84, or if it was built without one.
const char *atom_curl_default_authorities(void);

// Options and figures: libcurl's ABI never changes a number.
enum {
    ATOM_CURLOPT_URL = 10002,
    ATOM_CURLOPT_PROXY = 10004,
    ATOM_CURLOPT_HTTPHEADER = 10023,
    ATOM_CURLOPT_SSLCERT = 10025,
    ATOM_CURLOPT_KEYPASSWD = 10026,
    ATOM_CURLOPT_CUSTOMREQUEST = 10036,
    ATOM_CURLOPT_NOBODY = 44,
    ATOM_CURLOPT_SSL_VERIFYPEER = 64,
    ATOM_CURLOPT_CAINFO = 10065,
    ATOM_CURLOPT_FRESH_CONNECT = 74,
    ATOM_CURLOPT_FORBID_REUSE = 75,
    ATOM_CURLOPT_SSL_VERIFYHOST = 81,
    ATOM_CURLOPT_SSLKEY = 10087,
    ATOM_CURLOPT_CAPATH = 10097,
    ATOM_CURLOPT_PROXYUSERNAME = 10175,
    ATOM_CURLOPT_PROXYPASSWORD = 10176,
    ATOM_CURLOPT_NOPROXY = 10177,
    ATOM_CURLOPT_SSLVERSION = 32,
    ATOM_CURLOPT_EXPECT_100_TIMEOUT_MS = 227,
    ATOM_CURLOPT_PINNEDPUBLICKEY = 10230,
    ATOM_CURLOPT_PROXY_CAINFO = 10246,
    ATOM_CURLOPT_PROXY_CAPATH = 10247,
    ATOM_CURLOPT_PROXY_SSLVERSION = 250,
    ATOM_CURLOPT_PIPEWAIT = 237,
    ATOM_CURLOPT_TCP_KEEPALIVE = 213,
    ATOM_CURLOPT_HTTP_VERSION = 84,
    ATOM_CURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    ATOM_CURLOPT_CONNECT_ONLY = 141,
    ATOM_CURLOPT_SSL_SESSIONID_CACHE = 150,
    ATOM_CURLOPT_CONNECTTIMEOUT_MS = 156,
    ATOM_CURLOPT_CERTINFO = 172,
    ATOM_CURLOPT_RTSP_REQUEST = 189,
    ATOM_CURLOPT_REQUEST_TARGET = 10266,
    ATOM_CURLOPT_VERBOSE = 41,

    ATOM_CURLMOPT_MAXCONNECTS = 6,
    ATOM_CURLMOPT_MAX_HOST_CONNECTIONS = 7,

    ATOM_CURLINFO_REQUEST_SIZE = 0x200000 + 12,
    ATOM_CURLINFO_HTTP_CONNECTCODE = 0x200000 + 22,
    ATOM_CURLINFO_OS_ERRNO = 0x200000 + 25,
    ATOM_CURLINFO_NUM_CONNECTS = 0x200000 + 26,
    ATOM_CURLINFO_PRIMARY_IP = 0x100000 + 32,
    ATOM_CURLINFO_PRIMARY_PORT = 0x200000 + 40,
    ATOM_CURLINFO_LOCAL_PORT = 0x200000 + 42,
    ATOM_CURLINFO_HTTP_VERSION = 0x200000 + 46,
    ATOM_CURLINFO_TOTAL_TIME = 0x600000 + 50,
    ATOM_CURLINFO_NAMELOOKUP_TIME = 0x600000 + 51,
    ATOM_CURLINFO_CONNECT_TIME = 0x600000 + 52,
    ATOM_CURLINFO_PRETRANSFER_TIME = 0x600000 + 53,
    ATOM_CURLINFO_STARTTRANSFER_TIME = 0x600000 + 54,
    ATOM_CURLINFO_APPCONNECT_TIME = 0x600000 + 56,
};

/// Results of options: libcurl was built without it.
#define ATOM_CURL_NOT_BUILT_IN 4
/// A value of options: TLS 1.2 or later.
#define ATOM_CURL_TLS_1_2 6
/// A value of options: a request of RTSP that only receives. Over a kept connection libcurl repeats no request that has
/// it, whatever its protocol, but those that the server has refused.
#define ATOM_CURL_RTSP_RECEIVE 11
/// A value of options: HTTP/1.1.
#define ATOM_CURL_HTTP_1_1 2

/// The size of the buffer for libcurl's words on an error.
#define ATOM_CURL_ERROR_SIZE 256

#ifdef __cplusplus
}
#endif

#endif
#endif
