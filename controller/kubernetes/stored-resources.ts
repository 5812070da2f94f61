import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { ObjectMeta } from './objects.ts';

/** Status of a Route. */
export type RouteStatus = NonNullable<Route['status']>;

/** Status of GatewaySettings. */
export type SettingsStatus = NonNullable<GatewaySettings['status']>;

/** A resource of ours as the API server stores it. Its spec is validated by the compiler alone. */
export interface StoredResource<Status> {
  readonly metadata: ObjectMeta;
  readonly spec: unknown;
  readonly status?: Status;
}

/** A Route as the API server stores it. */
export type StoredRoute = StoredResource<RouteStatus>;

/** GatewaySettings as the API server stores them. */
export type StoredSettings = StoredResource<SettingsStatus>;
