import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { EndpointSlice, ReferenceGrant, Service } from '../kubernetes/objects.ts';
import type { Problem } from '../validate/problem.ts';
import type { Labels } from './label-selector.ts';

/** Everything the compiler reads. All have been validated. */
export interface Resources {
  readonly routes: readonly Route[];
  /** There is at most one; which one is the caller's choice. */
  readonly settings: GatewaySettings | undefined;
  readonly secrets: Secrets;
  /** Absent where there is no cluster: routes cannot refer to Services there. */
  readonly cluster?: ClusterResources;
}

/** What routes refer to in a cluster, by `namespace/name`. */
export interface ClusterResources {
  readonly services: ReadonlyMap<string, Service>;
  readonly endpointSlices: ReadonlyMap<string, EndpointSlice>;
  readonly referenceGrants: ReadonlyMap<string, ReferenceGrant>;
  /** Labels, by name of the namespace. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** Values of Secrets, by `namespace/name` and key. */
export type Secrets = ReadonlyMap<string, ReadonlyMap<string, Buffer | string>>;

export interface CompileOptions {
  /** Accept plain http on this machine's own names (`--dev-allow-loopback`). */
  readonly devAllowLoopback: boolean;
  /** Only routes and settings of this class count. Absent: those of every class do. */
  readonly gatewayClassName?: string;
  /** `namespace/name` of the settings that are looked for, for messages. */
  readonly settingsName?: string;
  /**
   * Without a cluster: take references to Services for good. Absent: they are refused. For checks
   * alone, since nothing of it can serve.
   */
  readonly takesServicesUnseen?: boolean;
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
  return `${namespaceOf({ metadata })}/${metadata.name}`;
}

/** Namespace of a resource. */
export function namespaceOf({ metadata }: Pick<Route | GatewaySettings, 'metadata'>): string {
  return metadata.namespace ?? 'default';
}
