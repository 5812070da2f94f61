import type { Logger } from '../../../shared/telemetry/logger.ts';
import type {
  CommitFrame,
  RejectedEntry,
  ProxyFrame,
} from '../../../shared/snapshot/push-frames.ts';
import type { RejectedResource } from '../../../shared/snapshot/rejected-resource.ts';
import { formatPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SnapshotDifference } from '../../configuration/snapshot-changes.ts';
import type { PlacedSnapshot } from '../../store/snapshot/snapshot-keeper.ts';
import { fitErrors } from './fit-errors.ts';
import type { ReceivedFrame } from './parse-controller-frame.ts';
import { ProtocolError } from '../connection/protocol-error.ts';
import { invalidResource } from './invalid-resource.ts';
import { RoutesByHost } from './routes-by-host.ts';
import {
  servedSnapshot,
  SnapshotStaging,
  type Complete,
  type ServedSnapshot,
} from './snapshot-staging.ts';

/**
 * Serves a snapshot from now on, all of it or nothing of it, and returns what of it cannot be served:
 * then the one before still serves.
 *
 * A snapshot that only has another position than the one before is the same object. The difference is
 * from the last snapshot that came here, which is not always what serves.
 */
export type ApplySnapshot = (
  placed: PlacedSnapshot,
  difference: SnapshotDifference,
) => Promise<readonly RejectedResource[]> | readonly RejectedResource[];

/** The frames of which snapshots are made. */
export type SnapshotFrame = Extract<
  ReceivedFrame,
  { readonly t: 'begin' | 'put' | 'keep' | 'del' | 'commit' }
>;

/** Takes snapshots frame by frame, has them served, and knows which one serves. */
export class SnapshotReceiver {
  readonly #apply: ApplySnapshot;
  readonly #logger: Logger;
  readonly #routesServing: RoutesByHost;
  #serving: ServedSnapshot | undefined;
  #staging: SnapshotStaging | undefined;
  #begunAt = 0;

  constructor(
    serving: PlacedSnapshot | undefined,
    { apply, logger }: { readonly apply: ApplySnapshot; readonly logger: Logger },
  ) {
    this.#serving = serving === undefined ? undefined : servedSnapshot(serving);
    this.#routesServing = new RoutesByHost(serving?.snapshot);
    this.#apply = apply;
    this.#logger = logger;
  }

  get serving(): PlacedSnapshot | undefined {
    return this.#serving;
  }

  /** Forgets what has come of a snapshot: the rest of it will not. */
  reset(): void {
    this.#staging = undefined;
  }

  /** Resolves with the answer to a `commit`. Throws a `ProtocolError` for frames out of order. */
  async take(frame: SnapshotFrame, bytes: number): Promise<ProxyFrame | undefined> {
    if (frame.t === 'begin') {
      if (this.#staging !== undefined) throw new ProtocolError('a snapshot began within another');
      this.#begunAt = performance.now();
      this.#staging = new SnapshotStaging(frame, this.#serving, this.#routesServing);
      return undefined;
    }
    if (this.#staging === undefined) throw new ProtocolError('a frame is of no snapshot');
    if (frame.t === 'commit') return await this.#commit(this.#staging, frame);
    if (frame.t === 'put') this.#staging.put(frame, bytes);
    else if (frame.t === 'keep') this.#staging.keep(frame, bytes);
    else this.#staging.delete(frame, bytes);
    return undefined;
  }

  async #commit(staging: SnapshotStaging, frame: CommitFrame): Promise<ProxyFrame> {
    this.#staging = undefined;
    const staged = staging.commit(frame);
    const errors = staged.kind === 'refused' ? staged.errors : await this.#serve(staged);
    const { epoch, sequence: seq } = staging.position;
    const version = this.#serving?.snapshot.version ?? null;
    if (errors.length === 0 && version !== null) {
      const appliedMs = Math.round(performance.now() - this.#begunAt);
      return { t: 'ack', epoch, seq, version, appliedMs };
    }
    this.#logger.warn('snapshot refused', {
      position: formatPosition(staging.position),
      errors: errors.length,
      first: errors[0],
    });
    return { t: 'nack', epoch, seq, rejected: fitErrors(errors), version };
  }

  async #serve({ snapshot: next, difference }: Complete): Promise<readonly RejectedEntry[]> {
    try {
      const placed = { position: next.position, snapshot: next.snapshot };
      const refused = await this.#apply(placed, difference);
      if (refused.length === 0) {
        this.#serving = next;
        this.#routesServing.follow(next.snapshot, difference.changes);
      }
      return refused.map(({ key, message }) => invalidResource(key, message, this.#serving));
    } catch (error) {
      this.#logger.error('a snapshot could not be applied', {}, error);
      // Without the cause: nobody has looked at what is in it.
      const message = 'the proxy failed to apply it, and says why in its log';
      return [{ key: '', reason: 'InvalidResource', message }];
    }
  }
}
