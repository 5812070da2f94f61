/** The moments when a reflector first knows its objects, or that it may not read them. */
export class ReflectorReadiness {
  readonly #synced = Promise.withResolvers<undefined>();
  readonly #answered = Promise.withResolvers<undefined>();

  /** Resolves when all objects are known for the first time. Never rejects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Resolves when all objects are known, or access to them is denied. Never rejects. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Records that all objects are known. */
  recordSync(): void {
    this.#synced.resolve(undefined);
    this.#answered.resolve(undefined);
  }

  /** Records that the API server denies access. */
  recordDenial(): void {
    this.#answered.resolve(undefined);
  }
}
