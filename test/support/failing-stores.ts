import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../proxy/store/stores.ts';

/** Stores that fail on demand, as shared ones do that cannot be reached. */
export interface FailingStores {
  readonly stores: Stores;
  setAway(isAway: boolean): void;
  /** Lets one call fail, or none any more. */
  failOnce(failure: Failure | null): void;
}

export interface Failure {
  /** So many calls work before. */
  readonly afterCalls: number;
  /** Only the answer is lost. */
  readonly isCarriedOut: boolean;
}

/** Puts them in front of stores that work. */
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

/** Methods of classes with private members want the object itself as `this`. */
function bound(member: unknown, target: object): unknown {
  return typeof member === 'function' ? (member.bind(target) as unknown) : member;
}
