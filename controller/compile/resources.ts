import type { GatewaySettings, Route } from '../../crds/types.ts';
import type { CompiledTracing } from '../../shared/snapshot/compiled-tracing.ts';
import type { SecretValues } from '../validate/secret.ts';

/** Secrets by `namespace/name`. */
export type Secrets = ReadonlyMap<string, SecretValues>;

/** The values of ConfigMaps, by `namespace/name` and key. */
export type ConfigMaps = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Options of the compiler. */
export interface CompileOptions {
  /** Accept plain http on this machine's own names (`--dev-allow-loopback`). */
  readonly devAllowLoopback: boolean;
  /** Only routes and settings of this class count. Absent: all classes. */
  readonly gatewayClassName?: string;
  /** `namespace/name` of the expected settings, for messages. */
  readonly settingsName?: string;
  /**
   * How `backendRefs` are treated without a cluster: rejected (`none`), or accepted unchecked
   * (`assumed`), for checks only. Absent: there is a cluster.
   */
  readonly services?: 'none' | 'assumed';
  /**
   * Whether a reference to a Secret that is not there counts as none (`assumed`), to find out what does
   * not depend on it. Absent: it is a problem.
   */
  readonly secrets?: 'assumed';
  /**
   * What the environment says about tracing in the process that the settings are for, which wins. Absent: that
   * is not known, because other processes serve.
   */
  readonly tracingEnvironment?: CompiledTracing;
  /** Whether a host stays with a namespace for a time after its last route there. Absent: it does not. */
  readonly holdsHosts?: true;
  /** Which settings apply while there are no GatewaySettings. Absent: none, and no route serves. */
  readonly withoutSettings?: 'defaults';
}

/** `namespace/name` of a resource. */
export function resourceName({ metadata }: Pick<Route | GatewaySettings, 'metadata'>): string {
  return `${namespaceOf({ metadata })}/${metadata.name}`;
}

/** Namespace of a resource. */
export function namespaceOf({ metadata }: Pick<Route | GatewaySettings, 'metadata'>): string {
  return metadata.namespace ?? 'default';
}
