import type { Revocation, Revocations } from '../revocations.ts';

/** Revocations within one process: every listener has heard before `publish` returns. */
export class MemoryRevocations implements Revocations {
  readonly #listeners = new Set<(revocation: Revocation) => void>();

  publish(revocation: Revocation): Promise<void> {
    const failures: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener(revocation);
      } catch (error) {
        // One that fails must not keep the others from hearing.
        failures.push(error);
      }
    }
    if (failures.length === 0) return Promise.resolve();
    return Promise.reject(new AggregateError(failures, 'a listener failed on a revocation'));
  }

  subscribe(listener: (revocation: Revocation) => void): () => void {
    // Wrapped: the same function may subscribe twice, and each subscription ends by itself.
    const subscription = (revocation: Revocation): void => {
      listener(revocation);
    };
    this.#listeners.add(subscription);
    return () => void this.#listeners.delete(subscription);
  }
}
