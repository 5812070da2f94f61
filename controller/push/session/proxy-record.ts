import type { Clock } from '../../../shared/runtime/clock.ts';
import type { RejectedEntry, StatusFrame } from '../../../shared/snapshot/push-frames.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { SentSnapshot } from '../content/overlay.ts';
import type { RevisionHistory } from '../content/revision-history.ts';
import type { ProxyReport } from '../publication.ts';
import type { PushTiming } from '../push-timing.ts';
import type { ProxyArrival } from './proxy-arrival.ts';
import { Rejections } from './rejections.ts';
import type { Offered } from './snapshot-offer.ts';

/** The snapshot that a proxy serves, as far as this leadership knows. */
type Serving =
  | { readonly kind: 'nothing' }
  /**
   * A snapshot that this leadership did not publish. `isBehind` once the proxy rejected ours or was slow
   * to answer: it then counts as a proxy that has acknowledged nothing.
   */
  | { readonly kind: 'foreign'; readonly isBehind: boolean }
  | { readonly kind: 'published'; readonly position: SnapshotPosition };

/** Options of the record of a proxy. */
export interface ProxyRecordOptions {
  readonly timing: PushTiming;
  readonly clock: Clock;
}

/** The leader's record of one proxy. */
export class ProxyRecord {
  readonly id: string;
  readonly rejections: Rejections;
  readonly #clock: Clock;
  #connectedAt: number;
  #serving: Serving = { kind: 'nothing' };
  /** The sent snapshots that it may serve: the one it acknowledged last, and the one sent last. */
  #sent: readonly SentSnapshot[] = [];
  /** The resources that its last answer rejected. */
  #rejected: readonly RejectedEntry[] = [];
  #isConnected = false;
  #isReady = false;
  #isDraining = false;
  #isSlow = false;

  constructor(id: string, { timing, clock }: ProxyRecordOptions) {
    this.id = id;
    this.rejections = new Rejections(timing, clock);
    this.#clock = clock;
    this.#connectedAt = clock.now();
  }

  get sent(): readonly SentSnapshot[] {
    return this.#sent;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Sequence that the proxy acknowledged; 0 if that is of another leadership. */
  get sequence(): number {
    return this.#serving.kind === 'published' ? this.#serving.position.sequence : 0;
  }

  /** Whether the rollout of a resource waits for this proxy. */
  get counts(): boolean {
    if (this.#isDraining) return false;
    const serving = this.#serving;
    return serving.kind === 'published' || (serving.kind === 'foreign' && serving.isBehind);
  }

  connect(arrival: ProxyArrival): void {
    this.#isConnected = true;
    this.#connectedAt = this.#clock.now();
    this.#isDraining = false;
    this.#isSlow = false;
    this.#serving = this.#servingAfter(arrival);
    const isOurs = arrival.kind === 'revision' || arrival.kind === 'own';
    this.#sent = isOurs ? [arrival.base] : [];
    if (arrival.kind !== 'own') this.rejections.clear();
    this.#rejected = this.rejections.entries;
  }

  disconnect(): void {
    this.#isConnected = false;
    this.rejections.pause();
  }

  /** Whether a status frame changes the record. */
  isChangedBy({ ready, draining }: StatusFrame): boolean {
    return this.#isReady !== ready || this.#isDraining !== draining;
  }

  setStatus({ ready, draining }: StatusFrame): void {
    this.#isReady = ready;
    this.#isDraining = draining;
  }

  setSlow(isSlow: boolean): void {
    this.#isSlow = isSlow;
    if (isSlow) this.#fallBehind();
  }

  offer({ sent }: Offered): void {
    this.#sent = [...this.#sent.slice(0, 1), sent];
  }

  acknowledge({ position, sent }: Offered): void {
    this.#serving = { kind: 'published', position };
    this.#sent = [sent];
    this.#rejected = this.rejections.entries;
  }

  reject(rejected: readonly RejectedEntry[]): void {
    this.#rejected = rejected;
    this.#fallBehind();
  }

  /**
   * Milliseconds since the first snapshot that it has not acknowledged was published, or since it
   * connected if that was later; 0 if it serves the newest.
   */
  lagMs(history: Pick<RevisionHistory, 'publishedAfter'>): number {
    const publishedAt = history.publishedAfter(this.sequence);
    if (publishedAt === undefined) return 0;
    return this.#clock.now() - Math.max(publishedAt, this.#connectedAt);
  }

  report(newest: SnapshotPosition, history: Pick<RevisionHistory, 'publishedAfter'>): ProxyReport {
    const serving = this.#serving;
    const position = serving.kind === 'published' ? serving.position : undefined;
    const isNewest = position?.epoch === newest.epoch && position.sequence === newest.sequence;
    return {
      id: this.id,
      isConnected: this.#isConnected,
      isReady: this.#isConnected && this.#isReady && !this.#isSlow,
      isDraining: this.#isDraining,
      position,
      lagMs: this.lagMs(history),
      isSynced: isNewest && this.#rejected.length === 0,
      rejected: this.#rejected,
    };
  }

  #servingAfter(arrival: ProxyArrival): Serving {
    switch (arrival.kind) {
      case 'nothing':
        return { kind: 'nothing' };
      case 'revision':
      case 'own':
        return { kind: 'published', position: arrival.position };
      case 'borrowed':
      case 'foreign':
        return {
          kind: 'foreign',
          isBehind: this.#serving.kind === 'foreign' && this.#serving.isBehind,
        };
    }
  }

  #fallBehind(): void {
    if (this.#serving.kind === 'foreign') this.#serving = { kind: 'foreign', isBehind: true };
  }
}
