import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';
import type { ReleasedRoute } from './released-route.ts';

/** A change that affects only statuses. */
export type StatusChange =
  | { readonly kind: 'route'; readonly key: string; readonly route: StoredRoute }
  | {
      readonly kind: 'released-route';
      readonly key: string;
      /** Undefined: the Route was deleted, or this gateway serves it again. */
      readonly released: ReleasedRoute | undefined;
    }
  | { readonly kind: 'settings'; readonly settings: StoredSettings };

/** Receives changes that affect only statuses. */
export type OnStatusChange = (change: StatusChange) => void;
