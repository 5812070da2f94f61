import type { Clock } from '../../shared/runtime/clock.ts';
import type { ResourceType } from '../kubernetes/kubernetes-api.ts';
import type { Reflector } from '../kubernetes/reflector.ts';
import type { ChangeBatch } from './change-batch.ts';
import type { ChangeBatcher } from './change-batcher.ts';
import { onDifference, type ReflectorSet, type ReflectorSource } from './reflector-set.ts';

/** Options of NamedObjects. */
export interface NamedObjectsOptions<Parsed> {
  readonly type: ResourceType;
  readonly parse: ReflectorSource<Parsed>['parse'];
  /** The part of a batch that has the objects, by `namespace/name`. */
  readonly into: (batch: ChangeBatch) => Map<string, Parsed | undefined>;
  readonly reflectors: ReflectorSet;
  readonly batcher: ChangeBatcher;
  readonly clock: Clock;
  /** The longest time that changes wait for an object. */
  readonly patienceMs: number;
}

interface WatchedObject<Parsed> {
  readonly reflector: Reflector<Parsed>;
  readonly patience: Disposable;
}

/** Objects of one type that are watched each by its name. */
export class NamedObjects<Parsed> implements Disposable {
  readonly #options: NamedObjectsOptions<Parsed>;
  readonly #objects = new Map<string, WatchedObject<Parsed>>();

  constructor(options: NamedObjectsOptions<Parsed>) {
    this.#options = options;
  }

  /** Watches these, by `namespace/name`, and stops watching all others. */
  subscribe(names: ReadonlySet<string>): void {
    for (const key of names) {
      if (!this.#objects.has(key)) this.#objects.set(key, this.#open(key));
    }
    for (const [key, object] of this.#objects) {
      if (!names.has(key)) this.#close(key, object);
    }
  }

  /** Stops the timers. The reflectors belong to their set. */
  [Symbol.dispose](): void {
    for (const { patience } of this.#objects.values()) patience[Symbol.dispose]();
  }

  #open(key: string): WatchedObject<Parsed> {
    const { type, parse, into, reflectors, batcher, clock, patienceMs } = this.#options;
    const [namespace = '', name = ''] = key.split('/');
    const reflector = reflectors.open(
      type,
      { namespace, name },
      {
        parse,
        onChange: onDifference((changed, values: Parsed | undefined) =>
          batcher.change((batch) => into(batch).set(changed, values)),
        ),
      },
    );
    // An object that does not exist has to be reported too, but causes no event.
    batcher.awaitReference(reflector, reflector.answered, (batch) => {
      into(batch).set(key, undefined);
    });
    const patience = clock.after(patienceMs, () => batcher.stopAwaiting(reflector));
    return { reflector, patience };
  }

  #close(key: string, { reflector, patience }: WatchedObject<Parsed>): void {
    const { reflectors, batcher, into } = this.#options;
    this.#objects.delete(key);
    patience[Symbol.dispose]();
    reflectors.close(reflector);
    batcher.stopAwaiting(reflector);
    batcher.change((batch) => into(batch).set(key, undefined));
  }
}
