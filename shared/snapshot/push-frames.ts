import type { RejectedResource } from './rejected-resource.ts';
import type { CompiledResource } from './snapshot.ts';

/**
 * The push protocol, version 1: a proxy opens one HTTP/2 stream to the leading controller (`POST
 * /v1/stream`), and both sides write frames on it, one JSON object a line.
 *
 * The proxy says who it is and what it has in the header:
 *
 * - `authorization: Bearer <ServiceAccount token for PUSH_AUDIENCE>`
 * - `x-proto: 1`
 * - `x-proxy-id: <pod name>`
 * - `x-have: <epoch>.<sequence>:<version>`, the snapshot it serves; left out when it has none
 * - `x-routes: <number>`, the routes it serves; left out when it has no snapshot
 *
 * The leader answers 200 and begins to send. Another controller answers 503, with `x-leader:
 * host:port` where it knows the leader; a wrong token is 401, one that is not a proxy's 403,
 * another protocol version 400. A refusal of its token says why in `x-reason`, in one word of a-z
 * and hyphens.
 */
export const PUSH_PATH = '/v1/stream';
export const PUSH_PROTOCOL = '1';
export const PUSH_AUDIENCE = 'gatehouse-controller';

/** `x-reason` of a controller that does not lead, and knows nobody who does. */
export const NO_LEADER = 'no-leader';
/** `reason` of a `goaway` for a stream whose place another one with the same proxy id has taken. */
export const REPLACED = 'replaced';

/** A longer line ends the stream. */
export const LONGEST_CONTROLLER_LINE_BYTES = 4 * 1024 * 1024;
export const LONGEST_PROXY_LINE_BYTES = 1024 * 1024;

/**
 * What the controller sends. A snapshot is `begin`, then `put`, `keep` and `del`, then `commit`.
 */
export type ControllerFrame =
  BeginFrame | PutFrame | KeepFrame | DeleteFrame | CommitFrame | PingFrame | GoawayFrame;

export interface BeginFrame {
  readonly t: 'begin';
  readonly epoch: number;
  readonly seq: number;
  /** Version of the snapshot that the frames change; null: they are the whole snapshot. */
  readonly base: string | null;
  /** Number of `put`, `keep` and `del` frames that follow. */
  readonly count: number;
}

/** A resource that is new or has another content. */
export interface PutFrame {
  readonly t: 'put';
  /** Key, hash and value of a `SnapshotResource`. */
  readonly k: string;
  readonly h: string;
  readonly v: CompiledResource;
}

/**
 * In a whole snapshot, a resource that the proxy serves already: it stays as it is. So the proxy
 * goes on with what it serves under a key whose newest content it refused.
 */
export interface KeepFrame {
  readonly t: 'keep';
  readonly k: string;
  readonly h: string;
}

/** A resource that is gone. */
export interface DeleteFrame {
  readonly t: 'del';
  readonly k: string;
}

export interface CommitFrame {
  readonly t: 'commit';
  /** Version that the snapshot must have. */
  readonly version: string;
}

/** Asks for a `pong`. */
export interface PingFrame {
  readonly t: 'ping';
}

/** The stream ends; the proxy opens another one. */
export interface GoawayFrame {
  readonly t: 'goaway';
  readonly reason: string;
}

/** What a proxy sends: an `ack` or a `nack` for every `commit`. */
export type ProxyFrame = AckFrame | NackFrame | StatusFrame | PongFrame;

/** The snapshot serves. */
export interface AckFrame {
  readonly t: 'ack';
  readonly epoch: number;
  readonly seq: number;
  /** Version of the snapshot. */
  readonly version: string;
  /** Milliseconds from `begin` to the exchange. */
  readonly appliedMs: number;
}

/**
 * The proxy serves nothing of the snapshot; the one before still serves. This concerns this proxy
 * alone: the controller sends it the same snapshot again, with what the proxy serves already in
 * place of each `InvalidResource`.
 */
export interface NackFrame {
  readonly t: 'nack';
  readonly epoch: number;
  readonly seq: number;
  readonly rejected: readonly RejectedEntry[];
  /** Version of what still serves; null: nothing. */
  readonly version: string | null;
}

/** A rejected resource as a `nack` lists it. An empty key stands for the whole snapshot. */
export interface RejectedEntry extends RejectedResource {
  readonly reason: RejectionReason;
  /**
   * With `InvalidResource`: hash of what the proxy serves under the key, and can go on serving
   * beside the rest of the snapshot. Absent if there is nothing like that.
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

/** Every ten seconds, and at every change of `ready` and `draining`. */
export interface StatusFrame {
  readonly t: 'status';
  readonly ready: boolean;
  readonly draining: boolean;
  /** Connections of clients. */
  readonly conns: number;
}

export interface PongFrame {
  readonly t: 'pong';
}
