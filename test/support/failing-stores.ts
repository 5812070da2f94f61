import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../proxy/store/stores.ts';

/** Stores that fail on demand, like shared stores that are unreachable. */
export interface FailingStores {
  readonly stores: Stores;
  setAway(isAway: boolean): void;
  /** Lets one kind of call fail, or none. */
  failOnce(failure: Failure | null): void;
}

export interface Failure {
  /** Number of calls that work before. */
  readonly afterCalls: number;
  /** Whether the call takes effect, and only its response is lost. */
  readonly isCarriedOut: boolean;
}

/** Wraps stores that work. */
export function failingStores(working: Stores): FailingStores {
  let isAway = false;
  let failure: Failure | null = null;
  const isDue = (): boolean => {
    if (failure === null) return isAway;
    const { afterCalls } = failure;
    failure = { ...failure, afterCalls: afterCalls - 1 };
    return isAway || afterCalls === 0;
  };
  const wrap = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'subscribe') return bound(member, target);
        return async (...parameters: unknown[]): Promise<unknown> => {
          const fails = isDue();
          const isCarriedOut = !fails || failure?.isCarriedOut === true;
          const answer: unknown = isCarriedOut && (await Reflect.apply(member, target, parameters));
          if (fails) throw new StoreUnavailableError('away');
          return answer;
        };
      },
    });
  // The same members, each of its own type.
  const wrapped = Object.entries(working).map(([name, store]) => [name, wrap(store as object)]);
  return {
    stores: Object.fromEntries(wrapped) as Stores,
    setAway: (value) => void (isAway = value),
    failOnce: (value) => void (failure = value),
  };
}

/** Binds a method, because classes with private members need the object itself as `this`. */
function bound(member: unknown, target: object): unknown {
  return typeof member === 'function' ? (member.bind(target) as unknown) : member;
}
