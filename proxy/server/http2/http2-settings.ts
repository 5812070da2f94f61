import type { ServerSessionOptions } from 'node:http2';

const KIBIBYTE = 1024;

/** What a head may have, as HTTP/1.1 would send it; the same as for HTTP/1.1. */
export const MAX_HEAD_BYTES = 16 * KIBIBYTE;

/**
 * What Node reads of a head, so that a longer one than allowed can be answered. RFC 9113, section 6.5.2 counts
 * 32 bytes more for each field. Streams with more are reset.
 */
const MAX_HEADER_LIST_BYTES = 64 * KIBIBYTE;

/** More than the fields that the pipeline allows, since each cookie may be a field of its own. */
const MAX_FIELDS = 1_000;

/** RFC 9113, section 6.5.2 recommends at least 100. */
const MAX_STREAMS = 100;

/** How much of each body a client may send before the gateway reads it, which then takes memory. */
const WINDOW_BYTES = 128 * KIBIBYTE;

/** The same for the bodies of a connection together. */
export const CONNECTION_WINDOW_BYTES = 1024 * KIBIBYTE;

/**
 * The options of connections. Attacks that they end: streams that are opened and reset (CVE-2023-44487), frames
 * that are invalid or empty, streams beyond the limit. A CONTINUATION flood ends in nghttp2.
 */
export const SESSION_OPTIONS: ServerSessionOptions = {
  settings: {
    maxConcurrentStreams: MAX_STREAMS,
    maxHeaderListSize: MAX_HEADER_LIST_BYTES,
    initialWindowSize: WINDOW_BYTES,
    // RFC 8441: WebSockets use HTTP/1.1.
    enableConnectProtocol: false,
    enablePush: false,
  },
  maxHeaderListPairs: MAX_FIELDS,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // Megabytes. A response waits in about 130 KiB, and each stream may have one.
  maxSessionMemory: 32,
  streamResetBurst: 500,
  streamResetRate: 33,
  // An upstream may repeat any field; HTTP/1.1 passes that on too.
  strictSingleValueFields: false,
};
