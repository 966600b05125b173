// A client's HTTP/2 connection: bytes become records of what they say. nghttp2 has frames and HPACK; its callbacks only append
// records, which are used when it has returned. No function of Swift is called from here.
#pragma once
#if !__has_include(<nghttp2/nghttp2.h>)
#error "nghttp2.h is missing: install libnghttp2-dev"
#endif
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAWL_H2_FRAME,    // code: its kind; it brings nothing by itself: every frame but DATA with content
    PAWL_H2_HEAD,     // a response's head, also an interim one; value: its size; flags: whether it ends the stream
    PAWL_H2_TRAILER,  // value: its size
    PAWL_H2_DATA,     // start and count: where in the bytes received
    PAWL_H2_END,      // END_STREAM
    PAWL_H2_CLOSED,   // code; flags: whether the peer has reset it
    PAWL_H2_SETTINGS, // code: how many streams the peer allows; flags: whether it says so
    PAWL_H2_GOAWAY,   // stream: the last one that the peer handles; code
    PAWL_H2_PONG,     // value
    PAWL_H2_BROKEN,   // the peer has broken the protocol, and nothing more is read; code
};

struct pawl_h2_record {
    int kind;
    int32_t stream;
    uint32_t code;
    uint32_t flags;
    size_t start;
    size_t count;
    uint64_t value;
};

enum {
    PAWL_H2_LONGEST_HEAD = 256 * 1024,  // as text; of more only the size is known
    PAWL_H2_KEPT_RECORDS = 1024,
    PAWL_H2_FRAME_HEAD = 9,
};

struct pawl_h2 {
    nghttp2_session *session;
    struct pawl_h2_record *records;
    size_t record_count, record_room;
    // Heads as text: those of records, and from `head_start` on the one that is being received.
    char *heads;
    size_t head_start, head_count, head_room;
    uint64_t head_size;
    int is_response;
    int is_paused;  // within a head: the records are to be taken, and then reading goes on even without more bytes
    int is_broken;  // nghttp2 or memory has failed: nothing more can be done
    // The frame that is being received.
    unsigned char frame[PAWL_H2_FRAME_HEAD];
    size_t frame_count, frame_left;
    const unsigned char *input;
    size_t arrived;  // content, to be given back to the connection's window
    int32_t reset;   // the stream that the peer has just reset
};

// A field of a request: where its name (in lower case) and its value are.
struct pawl_h2_field {
    uint32_t name, name_length, value, value_length;
    int is_secret;  // never put into a table of HPACK
};

static inline struct pawl_h2_record *pawl_h2_add(struct pawl_h2 *h2, int kind, int32_t stream, uint32_t code) {
    static struct pawl_h2_record nowhere;
    if (h2->record_count == h2->record_room) {
        size_t room = h2->record_room ? 2 * h2->record_room : 64;
        struct pawl_h2_record *records = realloc(h2->records, room * sizeof *records);
        if (!records) {
            h2->is_broken = 1;
            return &nowhere;
        }
        h2->records = records;
        h2->record_room = room;
    }
    struct pawl_h2_record *record = &h2->records[h2->record_count++];
    *record = (struct pawl_h2_record){.kind = kind, .stream = stream, .code = code};
    return record;
}

static inline void pawl_h2_append(struct pawl_h2 *h2, const void *text, size_t count) {
    if (h2->head_count - h2->head_start + count > PAWL_H2_LONGEST_HEAD) return;
    if (h2->head_count + count > h2->head_room) {
        size_t room = 2 * (h2->head_count + count) + 1024;
        char *heads = realloc(h2->heads, room);
        if (!heads) {
            h2->is_broken = 1;
            return;
        }
        h2->heads = heads;
        h2->head_room = room;
    }
    memcpy(h2->heads + h2->head_count, text, count);
    h2->head_count += count;
}

static inline int pawl_h2_on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct pawl_h2 *h2 = user;
    (void)session, (void)frame;
    h2->head_count = h2->head_start;
    h2->head_size = 0;
    h2->is_response = 0;
    return 0;
}

static inline int pawl_h2_on_field(
    nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value,
    size_t value_length, uint8_t flags, void *user) {
    struct pawl_h2 *h2 = user;
    (void)session, (void)frame, (void)flags;
    h2->head_size += name_length + value_length + 32;
    if (name_length && name[0] == ':') {
        h2->is_response = 1;
        pawl_h2_append(h2, "HTTP/2 ", 7);
    } else {
        pawl_h2_append(h2, name, name_length);
        pawl_h2_append(h2, ": ", 2);
    }
    pawl_h2_append(h2, value, value_length);
    pawl_h2_append(h2, "\r\n", 2);
    if (h2->is_broken) return NGHTTP2_ERR_CALLBACK_FAILURE;
    // A few bytes may stand for fields of thousands: the heads before this one are taken first.
    h2->is_paused = h2->head_start > 0 && h2->head_count > PAWL_H2_LONGEST_HEAD;
    return h2->is_paused ? NGHTTP2_ERR_PAUSE : 0;
}

static inline void pawl_h2_end_head(struct pawl_h2 *h2, int32_t stream, int ends) {
    pawl_h2_append(h2, "\r\n", 2);
    struct pawl_h2_record *record = pawl_h2_add(h2, h2->is_response ? PAWL_H2_HEAD : PAWL_H2_TRAILER, stream, 0);
    record->flags = (uint32_t)ends;
    record->start = h2->head_start;
    record->count = h2->head_count - h2->head_start;
    record->value = h2->head_size;
    if (h2->is_response) h2->head_start = h2->head_count;
    h2->head_count = h2->head_start;
}

static inline void pawl_h2_take_settings(struct pawl_h2 *h2, const nghttp2_settings *settings) {
    struct pawl_h2_record *record = pawl_h2_add(h2, PAWL_H2_SETTINGS, 0, 0);
    for (size_t i = 0; i < settings->niv; i++) {
        if (settings->iv[i].settings_id != NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) continue;
        record->code = settings->iv[i].value;
        record->flags = 1;
    }
}

static inline int pawl_h2_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct pawl_h2 *h2 = user;
    int ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    (void)session;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        pawl_h2_end_head(h2, frame->hd.stream_id, ends);
        if (ends) pawl_h2_add(h2, PAWL_H2_END, frame->hd.stream_id, 0);
        break;
    case NGHTTP2_DATA:
        if (frame->hd.length > 0 && frame->hd.length == frame->data.padlen)
            pawl_h2_add(h2, PAWL_H2_FRAME, frame->hd.stream_id, NGHTTP2_DATA);
        if (ends) pawl_h2_add(h2, PAWL_H2_END, frame->hd.stream_id, 0);
        break;
    case NGHTTP2_RST_STREAM: h2->reset = frame->hd.stream_id; break;
    case NGHTTP2_SETTINGS:
        if (!(frame->hd.flags & NGHTTP2_FLAG_ACK)) pawl_h2_take_settings(h2, &frame->settings);
        break;
    case NGHTTP2_PING:
        if (frame->hd.flags & NGHTTP2_FLAG_ACK) {
            struct pawl_h2_record *record = pawl_h2_add(h2, PAWL_H2_PONG, 0, 0);
            memcpy(&record->value, frame->ping.opaque_data, sizeof record->value);
        }
        break;
    case NGHTTP2_GOAWAY:
        pawl_h2_add(h2, PAWL_H2_GOAWAY, frame->goaway.last_stream_id, frame->goaway.error_code);
        break;
    default: break;
    }
    return h2->is_broken ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

// Pieces of one stream that follow each other become one: it is written at once.
static inline int pawl_h2_on_data(
    nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t count, void *user) {
    struct pawl_h2 *h2 = user;
    size_t start = (size_t)(bytes - h2->input);
    (void)session, (void)flags;
    h2->arrived += count;
    struct pawl_h2_record *last = h2->record_count ? &h2->records[h2->record_count - 1] : NULL;
    if (last && last->kind == PAWL_H2_DATA && last->stream == stream) {
        // Into bytes of the caller that were read already.
        memmove((unsigned char *)h2->input + last->start + last->count, bytes, count);
        last->count += count;
        return 0;
    }
    struct pawl_h2_record *record = pawl_h2_add(h2, PAWL_H2_DATA, stream, 0);
    record->start = start;
    record->count = count;
    return h2->is_broken ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static inline int pawl_h2_on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user) {
    struct pawl_h2 *h2 = user;
    (void)session;
    pawl_h2_add(h2, PAWL_H2_CLOSED, stream, code)->flags = stream == h2->reset;
    h2->reset = 0;
    return h2->is_broken ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static inline int pawl_h2_on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct pawl_h2 *h2 = user;
    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
        pawl_h2_add(h2, PAWL_H2_BROKEN, 0, frame->goaway.error_code);
    return h2->is_broken ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static inline void pawl_h2_close(struct pawl_h2 *h2) {
    nghttp2_session_del(h2->session);
    free(h2->records);
    free(h2->heads);
    *h2 = (struct pawl_h2){0};
}

// `h2` keeps its address. The windows are those of a stream and of the connection. Returns 1 when there is a session.
static inline int pawl_h2_open(struct pawl_h2 *h2, uint32_t stream_window, int32_t connection_window) {
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    *h2 = (struct pawl_h2){0};
    if (!nghttp2_session_callbacks_new(&callbacks) && !nghttp2_option_new(&option)) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, pawl_h2_on_begin);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, pawl_h2_on_field);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, pawl_h2_on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, pawl_h2_on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, pawl_h2_on_close);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, pawl_h2_on_sent);
        nghttp2_option_set_no_auto_window_update(option, 1);
        // White space around a value is trimmed, as in HTTP/1.1.
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
        if (nghttp2_session_client_new2(&h2->session, callbacks, h2, option)) h2->session = NULL;
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    if (!h2->session) return 0;
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, PAWL_H2_LONGEST_HEAD},
    };
    if (!nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, sizeof settings / sizeof *settings) &&
        !nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0, connection_window))
        return 1;
    pawl_h2_close(h2);
    return 0;
}

// Forgets the records. A head that is not complete stays.
static inline void pawl_h2_forget(struct pawl_h2 *h2) {
    memmove(h2->heads, h2->heads + h2->head_start, h2->heads ? h2->head_count - h2->head_start : 0);
    h2->head_count -= h2->head_start;
    h2->head_start = 0;
    h2->record_count = 0;
    if (h2->record_room <= PAWL_H2_KEPT_RECORDS) return;
    free(h2->records);
    h2->records = NULL;
    h2->record_room = 0;
}

// A frame begins, of which the head is known.
static inline void pawl_h2_begin_frame(struct pawl_h2 *h2) {
    size_t length = (size_t)h2->frame[0] << 16 | (size_t)h2->frame[1] << 8 | h2->frame[2];
    if (h2->frame[3] != NGHTTP2_DATA || length == 0) pawl_h2_add(h2, PAWL_H2_FRAME, 0, h2->frame[3]);
    h2->frame_left = PAWL_H2_FRAME_HEAD + length;
}

static inline size_t pawl_h2_feed(struct pawl_h2 *h2, const unsigned char *bytes, size_t count) {
    if (count > h2->frame_left) count = h2->frame_left;
    ssize_t result = nghttp2_session_mem_recv(h2->session, bytes, count);
    if (result < 0) h2->is_broken = 1;
    if (result < 0) return 0;
    h2->frame_left -= (size_t)result;
    if (h2->frame_left == 0) h2->frame_count = 0;
    return (size_t)result;
}

// Reads bytes, in which content of one stream is moved together; returns how many were used: all of them unless it is paused.
// Negative: nothing more can be read. nghttp2 gets one frame at most at once, so that records stay in their order, and the head
// of a frame in one piece: it would count the pieces of a CONTINUATION's.
static inline ssize_t pawl_h2_receive(struct pawl_h2 *h2, unsigned char *bytes, size_t count) {
    size_t used = 0;
    h2->input = bytes;
    if (h2->is_paused) {
        h2->is_paused = 0;
        if (nghttp2_session_mem_recv(h2->session, NULL, 0) < 0) h2->is_broken = 1;
    }
    while (used < count && !h2->is_broken && !h2->is_paused) {
        if (h2->frame_count < PAWL_H2_FRAME_HEAD) {
            int is_split = h2->frame_count > 0 || count - used < PAWL_H2_FRAME_HEAD;
            size_t piece = PAWL_H2_FRAME_HEAD - h2->frame_count;
            if (piece > count - used) piece = count - used;
            memcpy(h2->frame + h2->frame_count, bytes + used, piece);
            h2->frame_count += piece;
            if (h2->frame_count == PAWL_H2_FRAME_HEAD) pawl_h2_begin_frame(h2);
            if (is_split) used += piece;
            if (is_split && h2->frame_count == PAWL_H2_FRAME_HEAD) pawl_h2_feed(h2, h2->frame, PAWL_H2_FRAME_HEAD);
            if (is_split) continue;
        }
        used += pawl_h2_feed(h2, bytes + used, count - used);
    }
    if (h2->arrived && nghttp2_session_consume_connection(h2->session, h2->arrived)) h2->is_broken = 1;
    h2->arrived = 0;
    return h2->is_broken ? -1 : (ssize_t)used;
}

// The next bytes to be sent; NULL when there are none, or nothing can be sent.
static inline const uint8_t *pawl_h2_output(struct pawl_h2 *h2, size_t *count) {
    const uint8_t *bytes = NULL;
    ssize_t result = h2->is_broken ? 0 : nghttp2_session_mem_send(h2->session, &bytes);
    if (result < 0) h2->is_broken = 1;
    *count = result > 0 ? (size_t)result : 0;
    return result > 0 ? bytes : NULL;
}

// Returns the stream of a request without a body; negative when there can be none.
static inline int32_t pawl_h2_request(
    struct pawl_h2 *h2, const unsigned char *text, const struct pawl_h2_field *fields, size_t count) {
    nghttp2_nv *list = calloc(count ? count : 1, sizeof *list);
    if (!list) return -1;
    for (size_t i = 0; i < count; i++) {
        list[i].name = (uint8_t *)text + fields[i].name;
        list[i].namelen = fields[i].name_length;
        list[i].value = (uint8_t *)text + fields[i].value;
        list[i].valuelen = fields[i].value_length;
        list[i].flags = fields[i].is_secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    }
    int32_t stream = nghttp2_submit_request(h2->session, NULL, list, count, NULL, NULL);
    free(list);
    return stream;
}

static inline void pawl_h2_ping(struct pawl_h2 *h2, uint64_t value) {
    uint8_t bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    if (nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, bytes)) h2->is_broken = 1;
}
