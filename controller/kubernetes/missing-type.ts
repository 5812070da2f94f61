import type { Clock } from '../../shared/runtime/clock.ts';
import { NOT_FOUND } from './error-codes.ts';
import { KubernetesApiError } from './kubernetes-api.ts';

/**
 * Decides whether an optional type is missing from the API server.
 *
 * While objects of the type are known, it counts as missing only after a while: a type that is removed
 * deletes its objects one by one, but an API server that is starting does not know its types yet.
 */
export class MissingType {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #notFoundSince: number | undefined;

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** Records that the API server has the type. */
  recordFound(): void {
    this.#notFoundSince = undefined;
  }

  /** Records a failed list. Returns whether its error reliably means that the type is missing. */
  recordFailure(error: unknown, { knownObjects }: { readonly knownObjects: number }): boolean {
    if (!(error instanceof KubernetesApiError) || error.code !== NOT_FOUND) return false;
    const now = this.#clock.now();
    this.#notFoundSince ??= now;
    return knownObjects === 0 || now - this.#notFoundSince >= this.#patienceMs;
  }
}
