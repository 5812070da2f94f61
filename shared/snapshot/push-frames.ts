import type { RejectedResource } from './rejected-resource.ts';
import type { CompiledResource } from './snapshot.ts';

/**
 * The push protocol, version 4: a proxy opens one HTTP/2 stream to the leading controller
 * (`POST /v1/stream`), and both sides write frames on it, one JSON object a line.
 *
 * The proxy identifies itself, and the snapshot that it serves, in the request header:
 *
 * - `authorization: Bearer <ServiceAccount token for PUSH_AUDIENCE>`
 * - `x-proto: 4`
 * - `x-proxy-id: <pod name>`
 * - `x-have: <epoch>.<sequence>:<version>`, the snapshot it serves; absent if it has none
 * - `x-routes: <number>`, the number of routes it serves; absent if it has no snapshot
 * - `x-accepts: trace`, if `begin` may have the member `trace`
 *
 * The leader answers 200 and starts to send. Other controllers answer 503, with `x-leader:
 * host:port` if they know the leader. An invalid token is answered with 401, the token of
 * another holder with 403, a different protocol version with 400. `x-reason` gives the reason of a refusal
 * in one word of a-z and hyphens.
 */
export const PUSH_PATH = '/v1/stream';
/**
 * Version of the protocol; higher after every change that the other side could misread. A new member of
 * a resource needs no new version: an older proxy rejects the resource. A new kind of resource does if a
 * proxy that rejects it would permit too much, such as that of held hosts. So does a setting for routes
 * that do not name it, such as the bearer token format: an older proxy rejects the settings only.
 */
export const PUSH_PROTOCOL = '4';
/** Audience of the ServiceAccount tokens that proxies send. */
export const PUSH_AUDIENCE = 'gatehouse-controller';

/** `x-reason` of a controller that does not lead, and does not know the leader. */
export const NO_LEADER = 'no-leader';
/** `reason` of a `goaway` for a stream that a newer stream with the same proxy id replaces. */
export const REPLACED = 'replaced';

/** Longest key of a resource in a frame, in characters; both sides refuse a longer one. */
export const LONGEST_KEY_LENGTH = 1024;

/** Longest line that a controller may send; a longer one ends the stream. */
export const LONGEST_CONTROLLER_LINE_BYTES = 4 * 1024 * 1024;
/** Longest line that a proxy may send; a longer one ends the stream. */
export const LONGEST_PROXY_LINE_BYTES = 1024 * 1024;

/**
 * A frame of the controller. A snapshot is `begin`, then `put`, `keep` and `del`, then `commit`.
 */
export type ControllerFrame =
  BeginFrame | PutFrame | KeepFrame | DeleteFrame | CommitFrame | PingFrame | GoawayFrame;

/** Begins a snapshot. */
export interface BeginFrame {
  readonly t: 'begin';
  readonly epoch: number;
  readonly seq: number;
  /** Version of the snapshot that the frames change; null if they are the whole snapshot. */
  readonly base: string | null;
  /** Number of `put`, `keep` and `del` frames that follow. */
  readonly count: number;
  /** `traceparent` of the delivery. Only for proxies that accept it; absent if nothing is traced. */
  readonly trace?: string;
}

/** Adds a resource, or replaces its content. */
export interface PutFrame {
  readonly t: 'put';
  /** Key, hash and value of a `SnapshotResource`. */
  readonly k: string;
  readonly h: string;
  readonly v: CompiledResource;
}

/**
 * In a whole snapshot, keeps a resource that the proxy serves already, for example because it rejected
 * the newest content of that key.
 */
export interface KeepFrame {
  readonly t: 'keep';
  readonly k: string;
  readonly h: string;
}

/** Removes a resource. */
export interface DeleteFrame {
  readonly t: 'del';
  readonly k: string;
}

/** Ends a snapshot. */
export interface CommitFrame {
  readonly t: 'commit';
  /** Version that the snapshot must have. */
  readonly version: string;
}

/** Asks for a `pong`. */
export interface PingFrame {
  readonly t: 'ping';
}

/** Ends the stream; the proxy opens a new one. */
export interface GoawayFrame {
  readonly t: 'goaway';
  readonly reason: string;
}

/** A frame of a proxy, which sends an `ack` or a `nack` for every `commit`. */
export type ProxyFrame = AckFrame | NackFrame | StatusFrame | PongFrame;

/** The proxy serves the snapshot. */
export interface AckFrame {
  readonly t: 'ack';
  readonly epoch: number;
  readonly seq: number;
  /** Version of the snapshot. */
  readonly version: string;
  /** Milliseconds from `begin` until the snapshot serves. */
  readonly appliedMs: number;
}

/**
 * The proxy rejects the snapshot and keeps serving the previous one. Other proxies are not affected:
 * the controller sends this proxy the same snapshot again, with the content that the proxy serves
 * already in place of each `InvalidResource`.
 */
export interface NackFrame {
  readonly t: 'nack';
  readonly epoch: number;
  readonly seq: number;
  readonly rejected: readonly RejectedEntry[];
  /** Version of the snapshot that still serves; null if none does. */
  readonly version: string | null;
}

/** A rejected resource as a `nack` lists it. An empty key stands for the whole snapshot. */
export interface RejectedEntry extends RejectedResource {
  readonly reason: RejectionReason;
  /**
   * With `InvalidResource`: hash of the content that the proxy serves under the key, and can keep
   * serving with the rest of the snapshot. Absent if there is none.
   */
  readonly servedHash?: string;
}

/**
 * Why a proxy rejects a resource, or a whole snapshot.
 *
 * - `InvalidResource`: this proxy cannot serve the resource (it may come from another release), or
 *   cannot serve it beside another resource of the snapshot
 * - `StalePosition`: older than what the proxy has; `message` is the position that it has
 * - `UnknownBase`: the proxy does not have the snapshot that the frames change
 * - `BrokenSnapshot`: count, hash or version do not match
 */
export type RejectionReason =
  'InvalidResource' | 'StalePosition' | 'UnknownBase' | 'BrokenSnapshot';

/** Status of the proxy, sent every ten seconds and at every change of `ready` and `draining`. */
export interface StatusFrame {
  readonly t: 'status';
  readonly ready: boolean;
  readonly draining: boolean;
  /** Connections of clients. */
  readonly conns: number;
  /** What the proxy found out since the last frame of this stream; everything in the first ones. */
  readonly upstreamAuth?: readonly UpstreamAuthReport[];
}

/** Whether users can connect to the upstream of a route, as a proxy found out last. */
export interface UpstreamAuthReport {
  /** `namespace/name` of the Route. */
  readonly route: string;
  /** How many milliseconds ago that was. It is no time, because clocks of machines differ. */
  readonly ageMs: number;
  /** Absent if they can. */
  readonly failure?: UpstreamAuthFailure;
}

/** Why no user can connect to the upstream of a route. */
export interface UpstreamAuthFailure {
  /** In words of a-z, with hyphens. */
  readonly reason: string;
  /** For operators; without secrets. A longer one than `LONGEST_UPSTREAM_AUTH_MESSAGE` is cut. */
  readonly message: string;
}

/** Longest message of a failure, in characters: a frame with the most reports is far below the longest line. */
export const LONGEST_UPSTREAM_AUTH_MESSAGE = 1000;

/** The most reports in one frame. */
export const MAX_UPSTREAM_AUTH_REPORTS = 100;

/** Answers a `ping`. */
export interface PongFrame {
  readonly t: 'pong';
}
