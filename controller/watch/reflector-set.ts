import { isDeepStrictEqual } from 'node:util';

import type { ResourceType, Scope } from '../kubernetes/kubernetes-api.ts';
import type { OnObjectChange } from '../kubernetes/object-cache.ts';
import type { WatchHealth } from '../kubernetes/reflector-health.ts';
import { Reflector, type ReflectorOptions } from '../kubernetes/reflector.ts';

/** Options that all reflectors of a set share. */
export type ReflectorSetOptions = Pick<
  ReflectorOptions<unknown>,
  'api' | 'clock' | 'logger' | 'metrics' | 'times'
>;

/** Options of one reflector of a set. */
export type ReflectorSource<Parsed> = Pick<
  ReflectorOptions<Parsed>,
  'parse' | 'onChange' | 'isOptional'
>;

interface OpenReflector extends AsyncDisposable {
  readonly health: WatchHealth;
}

/** The reflectors that are open. */
export class ReflectorSet implements AsyncDisposable {
  readonly #options: ReflectorSetOptions;
  readonly #reflectors = new Set<OpenReflector>();

  constructor(options: ReflectorSetOptions) {
    this.#options = options;
  }

  /** The health of each reflector. */
  get health(): readonly WatchHealth[] {
    return [...this.#reflectors].map(({ health }) => health);
  }

  /** Opens a reflector. */
  open<Parsed>(
    type: ResourceType,
    scope: Scope,
    source: ReflectorSource<Parsed>,
  ): Reflector<Parsed> {
    const reflector = new Reflector({ ...this.#options, ...source, type, scope });
    this.#reflectors.add(reflector);
    return reflector;
  }

  /** Closes a reflector in the background. It reports no changes after this. */
  close(reflector: OpenReflector): void {
    this.#reflectors.delete(reflector);
    // Disposing never rejects.
    void reflector[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#reflectors].map((each) => each[Symbol.asyncDispose]()));
  }
}

/** Reports a change only if the parsed part of the object differs. */
export function onDifference<Parsed>(
  report: (key: string, after: Parsed | undefined) => void,
): OnObjectChange<Parsed> {
  return (key, after, before) => {
    if (!isDeepStrictEqual(after, before)) report(key, after);
  };
}
