import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { Problem } from '../validate/problem.ts';

/** Everything the compiler reads. All have been validated. */
export interface Resources {
  readonly routes: readonly Route[];
  /** There is at most one; which one is the caller's choice. */
  readonly settings: GatewaySettings | undefined;
  readonly secrets: Secrets;
}

/** Values of Secrets, by `namespace/name` and key. */
export type Secrets = ReadonlyMap<string, ReadonlyMap<string, Buffer | string>>;

export interface CompileOptions {
  /** Accept plain http on this machine's own names (`--dev-allow-loopback`). */
  readonly devAllowLoopback: boolean;
}

export interface CompileResult {
  /** Holds what is valid; always has `settings`. */
  readonly snapshot: Snapshot;
  /** Everything that is wrong, sorted. */
  readonly problems: readonly Problem[];
  /** `namespace/name` of the routes in the snapshot. */
  readonly acceptedRoutes: ReadonlySet<string>;
  /** Whether the snapshot holds what the settings say; true when there are none. */
  readonly settingsAccepted: boolean;
}

/** `namespace/name` of a resource. */
export function nameOf({ metadata }: Pick<Route | GatewaySettings, 'metadata'>): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name}`;
}
