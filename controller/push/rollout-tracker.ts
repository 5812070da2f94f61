import { isCertificateKey, isServiceKey } from '../../shared/snapshot/resource-key.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { PublishedContent } from './content/published-content.ts';
import type { PublishedResource } from './content/published-resource.ts';
import type { RolloutState } from './publication.ts';
import type { ProxyRecord } from './session/proxy-record.ts';
import type { ProxyRegistry, RejectionByProxy } from './session/proxy-registry.ts';

/** Finds the rollout state of each resource, and reports the keys for which it may have changed. */
export class RolloutTracker {
  readonly #content: PublishedContent;
  readonly #registry: ProxyRegistry;
  readonly #changes: ChangeNotifier;
  /** The sequence that all counting proxies have acknowledged; undefined if no proxy counts. */
  #slowest: number | undefined;

  constructor({
    content,
    registry,
    changes,
  }: {
    readonly content: PublishedContent;
    readonly registry: ProxyRegistry;
    readonly changes: ChangeNotifier;
  }) {
    this.#content = content;
    this.#registry = registry;
    this.#changes = changes;
  }

  /** The rollout state of a published resource; undefined if the key is not published. */
  rolloutState(key: string): RolloutState | undefined {
    const published = this.#content.find(key);
    if (published === undefined) return undefined;
    const rejection = this.#rejectionOf(published);
    if (rejection !== undefined) return { kind: 'rejected', ...rejection };
    if (this.#slowest === undefined) return { kind: 'no-proxies' };
    const { since } = published;
    if (this.#slowest >= since) return { kind: 'programmed' };
    return { kind: 'pending', ...this.#registry.count(since) };
  }

  /** Runs a change to the records of proxies, and marks the keys with a changed rollout state. */
  track(change: () => void): void {
    const before = this.#slowest;
    change();
    const after = this.#registry.slowest;
    this.#slowest = after;
    if (before === after) this.#changes.add([]);
    else if (before === undefined || after === undefined) this.#changes.add('all');
    else this.#changes.add(this.#keysBetween(before, after));
  }

  /** Marks these keys, and the resources that depend on them, as possibly changed. */
  mark(keys: readonly string[]): void {
    if (keys.length === 0) return;
    this.#changes.add(keys);
    const parts = keys.filter((key) => isServiceKey(key) || isCertificateKey(key));
    for (const key of parts) this.#changes.add(this.#content.usersOf(key));
  }

  /** Marks everything that a proxy has not acknowledged as possibly changed. */
  markUnacknowledged({ sequence }: ProxyRecord): void {
    this.#changes.add(this.#keysBetween(sequence, this.#content.position.sequence));
  }

  #rejectionOf({ resource, partKeys }: PublishedResource): RejectionByProxy | undefined {
    const rejection = this.#registry.rejectionOf(resource.key, resource.hash);
    if (rejection !== undefined) return rejection;
    for (const key of partKeys) {
      const part = this.#content.find(key)?.resource;
      const ofPart = part && this.#registry.rejectionOf(key, part.hash);
      if (ofPart !== undefined) return ofPart;
    }
    return undefined;
  }

  #keysBetween(one: number, other: number): ReadonlySet<string> | 'all' {
    return this.#content.history.keysBetween(Math.min(one, other), Math.max(one, other));
  }
}
