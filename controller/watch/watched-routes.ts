import type { Scope } from '../kubernetes/kubernetes-api.ts';
import { parseStoredRoute } from '../kubernetes/parse-stored.ts';
import type { Reflector } from '../kubernetes/reflector.ts';
import { ROUTES } from '../kubernetes/resource-types.ts';
import type { StoredRoute } from '../kubernetes/stored-resources.ts';
import type { ChangeBatcher } from './change-batcher.ts';
import { compilesToSame, type GatewayClassFilter } from './gateway-class-filter.ts';
import type { ReflectorSet } from './reflector-set.ts';
import type { OnStatusChange } from './status-change.ts';

/** Options of WatchedRoutes. */
export interface WatchedRoutesOptions {
  readonly reflectors: ReflectorSet;
  readonly batcher: ChangeBatcher;
  readonly filter: GatewayClassFilter;
  readonly onStatusChange: OnStatusChange;
}

/** The Routes of this gateway, and those that it has to release. */
export class WatchedRoutes {
  readonly #options: WatchedRoutesOptions;
  readonly #reflectors: readonly Reflector<StoredRoute>[];
  /** Keys of the Routes that were reported as released. */
  readonly #released = new Set<string>();

  constructor(options: WatchedRoutesOptions, scopes: readonly Scope[]) {
    this.#options = options;
    this.#reflectors = scopes.map((scope) => this.#open(scope));
  }

  /** A Route of this gateway with its status, by `namespace/name`. */
  get(key: string): StoredRoute | undefined {
    for (const reflector of this.#reflectors) {
      const route = this.#options.filter.selectServable(reflector.get(key));
      if (route !== undefined) return route;
    }
    return undefined;
  }

  #open(scope: Scope): Reflector<StoredRoute> {
    const { reflectors, batcher } = this.#options;
    const reflector = reflectors.open(ROUTES, scope, {
      parse: parseStoredRoute,
      onChange: (key, after, before) => this.#change(key, after, before),
    });
    batcher.requireSource(reflector, reflector.synced);
    return reflector;
  }

  #change(key: string, after: StoredRoute | undefined, before: StoredRoute | undefined): void {
    const { batcher, filter, onStatusChange } = this.#options;
    const route = filter.selectServable(after);
    this.#changeRelease(key, after);
    if (!compilesToSame(route, filter.selectServable(before))) {
      batcher.change(({ routes }) => routes.set(key, route));
    } else if (route !== undefined) {
      onStatusChange({ kind: 'route', key, route });
    }
  }

  #changeRelease(key: string, after: StoredRoute | undefined): void {
    const released = this.#options.filter.selectReleased(after);
    if (released !== undefined) this.#released.add(key);
    else if (!this.#released.delete(key)) return;
    this.#options.onStatusChange({ kind: 'released-route', key, released });
  }
}
