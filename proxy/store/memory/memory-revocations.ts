import type { Revocation, Revocations } from '../revocations.ts';

/** Revocations within one process: `publish` returns after every listener was called. */
export class MemoryRevocations implements Revocations {
  readonly #listeners = new Set<(revocation: Revocation) => void>();

  publish(revocation: Revocation): Promise<void> {
    const failures: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener(revocation);
      } catch (error) {
        // The other listeners must be called too.
        failures.push(error);
      }
    }
    if (failures.length === 0) return Promise.resolve();
    return Promise.reject(new AggregateError(failures, 'a revocation handler failed'));
  }

  subscribe(listener: (revocation: Revocation) => void): () => void {
    // Wrapped, because one function may subscribe twice, and each subscription ends separately.
    const subscription = (revocation: Revocation): void => {
      listener(revocation);
    };
    this.#listeners.add(subscription);
    return () => void this.#listeners.delete(subscription);
  }
}
