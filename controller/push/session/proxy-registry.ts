import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { RevisionHistory } from '../content/revision-history.ts';
import type { ProxyReport } from '../publication.ts';
import { ProxyRecord, type ProxyRecordOptions } from './proxy-record.ts';

/** The rejection of a resource by one proxy. */
export interface RejectionByProxy {
  readonly proxy: string;
  readonly message: string;
}

/** The proxies of a leadership that are connected, or were a short time ago. */
export class ProxyRegistry {
  readonly #records = new Map<string, ProxyRecord>();
  readonly #options: ProxyRecordOptions;

  constructor(options: ProxyRecordOptions) {
    this.#options = options;
  }

  /** Returns the record of a proxy, and creates it for a proxy that is not known. */
  recordOf(id: string): ProxyRecord {
    const known = this.#records.get(id);
    if (known !== undefined) return known;
    const record = new ProxyRecord(id, this.#options);
    this.#records.set(id, record);
    return record;
  }

  remove(id: string): void {
    this.#records.delete(id);
  }

  /** Returns a proxy that rejects this content of a key, and why. Ignores proxies that drain. */
  rejectionOf(key: string, hash: string): RejectionByProxy | undefined {
    for (const { id, isDraining, rejections } of this.#records.values()) {
      const message = isDraining ? undefined : rejections.messageOn(key, hash);
      if (message !== undefined) return { proxy: id, message };
    }
    return undefined;
  }

  /** Stops all retries. */
  close(): void {
    for (const { rejections } of this.#records.values()) rejections.pause();
  }

  /** The lowest sequence that a counting proxy has acknowledged; undefined if no proxy counts. */
  get slowest(): number | undefined {
    const sequences = this.#sequences();
    return sequences.length === 0 ? undefined : Math.min(...sequences);
  }

  /** Counts the proxies, and those that have acknowledged a sequence or a later one. */
  count(sequence: number): { readonly acknowledged: number; readonly proxies: number } {
    const sequences = this.#sequences();
    const acknowledged = sequences.filter((each) => each >= sequence).length;
    return { acknowledged, proxies: sequences.length };
  }

  report(
    newest: SnapshotPosition,
    history: Pick<RevisionHistory, 'publishedAfter'>,
  ): readonly ProxyReport[] {
    return [...this.#records.values()].map((record) => record.report(newest, history));
  }

  #sequences(): readonly number[] {
    const counted = [...this.#records.values()].filter(({ counts }) => counts);
    return counted.map(({ sequence }) => sequence);
  }
}
