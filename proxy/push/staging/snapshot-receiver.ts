import type { Logger } from '../../../shared/telemetry/logger.ts';
import type {
  AckFrame,
  CommitFrame,
  NackFrame,
  RejectedEntry,
  ProxyFrame,
} from '../../../shared/snapshot/push-frames.ts';
import {
  parseTraceparent,
  type TraceContext,
} from '../../../shared/telemetry/tracing/trace-context.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import type { RejectedResource } from '../../../shared/snapshot/rejected-resource.ts';
import { formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SnapshotDifference } from '../../configuration/snapshot-changes.ts';
import type { PlacedSnapshot } from '../../store/snapshot/snapshot-keeper.ts';
import { fitIntoFrame } from './fit-into-frame.ts';
import type { ReceivedFrame } from './received-frame.ts';
import { ProtocolError } from '../connection/protocol-error.ts';
import { invalidResource } from './invalid-resource.ts';
import { RoutesByHost } from './routes-by-host.ts';
import {
  withDigest,
  SnapshotStaging,
  type Complete,
  type DigestedSnapshot,
} from './snapshot-staging.ts';

/**
 * Serves a snapshot, whole or not at all. Returns the resources that cannot be served; if there are
 * any, the previous snapshot still serves.
 *
 * If only the position changed, the snapshot is the same object as before. The difference is
 * relative to the last snapshot received, which is not always the one that serves.
 */
export type ApplySnapshot = (
  placed: PlacedSnapshot,
  difference: SnapshotDifference,
) => Promise<readonly RejectedResource[]> | readonly RejectedResource[];

/** The frames that make up a snapshot. */
export type SnapshotFrame = Extract<
  ReceivedFrame,
  { readonly t: 'begin' | 'put' | 'keep' | 'del' | 'commit' }
>;

/** Options of a SnapshotReceiver. */
export interface SnapshotReceiverOptions {
  readonly apply: ApplySnapshot;
  readonly logger: Logger;
  /** Traces how snapshots are applied, in the trace of the controller; absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/** Receives snapshots frame by frame, applies them, and knows which one serves. */
export class SnapshotReceiver {
  readonly #apply: ApplySnapshot;
  readonly #logger: Logger;
  readonly #tracer: Tracer | undefined;
  readonly #routesServing: RoutesByHost;
  #serving: DigestedSnapshot | undefined;
  #staging: SnapshotStaging | undefined;
  #begunAt = 0;
  /** The trace of the controller that the snapshot belongs to. */
  #parent: TraceContext | undefined;

  constructor(
    serving: PlacedSnapshot | undefined,
    { apply, logger, tracer }: SnapshotReceiverOptions,
  ) {
    this.#serving = serving === undefined ? undefined : withDigest(serving);
    this.#routesServing = new RoutesByHost(serving?.snapshot);
    this.#apply = apply;
    this.#logger = logger;
    this.#tracer = tracer;
  }

  get serving(): PlacedSnapshot | undefined {
    return this.#serving;
  }

  /** Discards a snapshot that arrived in part, because the rest will not arrive. */
  reset(): void {
    this.#staging = undefined;
  }

  /**
   * Resolves with the answer to a `commit`. Rejects with a `ProtocolError` for frames out of order.
   */
  async receive(frame: SnapshotFrame, bytes: number): Promise<ProxyFrame | undefined> {
    if (frame.t === 'begin') {
      if (this.#staging !== undefined)
        throw new ProtocolError('a snapshot began within a snapshot');
      this.#begunAt = performance.now();
      this.#parent = frame.trace === undefined ? undefined : parseTraceparent(frame.trace);
      this.#staging = new SnapshotStaging(frame, this.#serving, this.#routesServing);
      return undefined;
    }
    if (this.#staging === undefined) throw new ProtocolError('a frame outside a snapshot');
    if (frame.t === 'commit') return await this.#commitTraced(this.#staging, frame);
    if (frame.t === 'put') this.#staging.put(frame, bytes);
    else if (frame.t === 'keep') this.#staging.keep(frame, bytes);
    else this.#staging.delete(frame, bytes);
    return undefined;
  }

  /** The span begins with the first frame. */
  async #commitTraced(staging: SnapshotStaging, frame: CommitFrame): Promise<ProxyFrame> {
    const trace = this.#tracer?.start('apply snapshot', 'server', {
      parent: this.#parent,
      startedAt: this.#begunAt,
      attributes: { 'gatehouse.snapshot.position': formatPosition(staging.position) },
    });
    const answer = await this.#commit(staging, frame);
    if (answer.t === 'nack') trace?.span?.fail(answer.rejected[0]?.reason ?? 'rejected');
    trace?.span?.end();
    return answer;
  }

  async #commit(staging: SnapshotStaging, frame: CommitFrame): Promise<AckFrame | NackFrame> {
    this.#staging = undefined;
    const staged = staging.commit(frame);
    const errors = staged.kind === 'rejected' ? staged.errors : await this.#serve(staged);
    const { epoch, sequence: seq } = staging.position;
    const version = this.#serving?.snapshot.version ?? null;
    if (errors.length === 0 && version !== null) {
      const appliedMs = Math.round(performance.now() - this.#begunAt);
      return { t: 'ack', epoch, seq, version, appliedMs };
    }
    this.#logger.warn('snapshot rejected', {
      position: formatPosition(staging.position),
      errors: errors.length,
      first: errors[0],
    });
    return { t: 'nack', epoch, seq, rejected: fitIntoFrame(errors), version };
  }

  async #serve({ snapshot: next, difference }: Complete): Promise<readonly RejectedEntry[]> {
    try {
      const placed = { position: next.position, snapshot: next.snapshot };
      const rejected = await this.#apply(placed, difference);
      if (rejected.length === 0) {
        this.#serving = next;
        this.#routesServing.update(next.snapshot, difference.changes);
      }
      return rejected.map(({ key, message }) => invalidResource(key, message, this.#serving));
    } catch (error) {
      this.#logger.error('cannot apply a snapshot', {}, error);
      // Leaves out the cause, which may quote the snapshot.
      const message = 'the proxy failed to apply it; its log has the reason';
      return [{ key: '', reason: 'InvalidResource', message }];
    }
  }
}
