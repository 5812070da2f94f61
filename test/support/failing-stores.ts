import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../proxy/store/stores.ts';

/** Stores that fail on demand, as shared ones do that cannot be reached. */
export interface FailingStores {
  readonly stores: Stores;
  setAway(isAway: boolean): void;
}

/** Puts them in front of stores that work. */
export function failingStores(working: Stores): FailingStores {
  let isAway = false;
  const wrap = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'subscribe') return bound(member, target);
        return (...parameters: unknown[]) =>
          isAway
            ? Promise.reject(new StoreUnavailableError('away'))
            : (Reflect.apply(member, target, parameters) as unknown);
      },
    });
  // The same members, each of its own type.
  const wrapped = Object.entries(working).map(([name, store]) => [name, wrap(store as object)]);
  return {
    stores: Object.fromEntries(wrapped) as Stores,
    setAway: (value) => void (isAway = value),
  };
}

/** Methods of classes with private members want the object itself as `this`. */
function bound(member: unknown, target: object): unknown {
  return typeof member === 'function' ? (member.bind(target) as unknown) : member;
}
