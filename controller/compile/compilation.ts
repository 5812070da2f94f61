import type { ClusterIssuerReading } from '../kubernetes/cluster-issuer.ts';
import type { EndpointSlice, ReferenceGrant, Service } from '../kubernetes/objects.ts';
import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';
import type { CertificateValidity } from './certificates/certificate-validity.ts';
import type { ChangeSet } from './change-set.ts';
import type { Problem } from '../validate/problem.ts';
import type { SecretValues } from '../validate/secret.ts';
import type { HostRecords } from './routes/host-holds.ts';

/**
 * The changes since the last compilation, by `namespace/name`; undefined: deleted.
 *
 * A status is read only while nothing else is known about its resource, and only for the generation
 * that served (`status.served`) and the host that a route served (`status.url`).
 */
export interface Changes {
  /** Routes of another class count as deleted. */
  readonly routes?: ReadonlyMap<string, StoredRoute | undefined>;
  /** The settings of this gateway; null: they are deleted, and everything known about them too. */
  readonly settings?: StoredSettings | null;
  readonly secrets?: ReadonlyMap<string, SecretValues | undefined>;
  /** Values by key. */
  readonly configMaps?: ReadonlyMap<string, ReadonlyMap<string, string> | undefined>;
  readonly services?: ReadonlyMap<string, Service | undefined>;
  readonly endpointSlices?: ReadonlyMap<string, EndpointSlice | undefined>;
  readonly referenceGrants?: ReadonlyMap<string, ReferenceGrant | undefined>;
  /** Labels, by name of the namespace. */
  readonly namespaces?: ReadonlyMap<string, Readonly<Record<string, string>> | undefined>;
  /** Who issues the tokens of ServiceAccounts, for the identity provider that stands for them. */
  readonly clusterIssuer?: ClusterIssuerReading;
  /** The wall clock, in milliseconds, which decides how long hosts are held. */
  readonly now?: number;
  /** Hosts that are not held any longer, by the wish of an operator. */
  readonly releasedHosts?: readonly string[];
  /** Namespaces that were deleted, so that no host is held for them. */
  readonly endedNamespaces?: ReadonlySet<string>;
}

/**
 * The result of compiling changes. While there is an obstacle it contains only the verdict on the
 * settings; the rest follows once there is none.
 */
export interface Compilation extends ChangeSet {
  /** New verdicts on routes; undefined: the route is deleted. */
  readonly routes: ReadonlyMap<string, RouteVerdict | undefined>;
  /** Absent if the verdict is the same; null: the settings are deleted. */
  readonly settings?: SettingsVerdict | null;
  /** Owners of hosts that another process has to know; undefined: it need not know this one. */
  readonly hosts: HostRecords;
}

/** The compiler's result for the newest generation of a resource, and the generation that serves. */
interface Verdict<R> {
  /** The newest generation, as it was stored. */
  readonly resource: R;
  /** Whether the newest generation serves. */
  readonly isAccepted: boolean;
  /** Everything wrong with the newest generation. If it is accepted: its unusable references. */
  readonly problems: readonly Problem[];
  /** The generation that serves; absent if none does. */
  readonly served?: Served;
}

/** A generation that serves. */
export interface Served {
  readonly generation: number;
  readonly spec: unknown;
  /** Key and hash of its snapshot resource. */
  readonly key: string;
  readonly hash: string;
}

/** The verdict on a route. */
export interface RouteVerdict extends Verdict<StoredRoute> {
  readonly mcpRole: 'server' | 'client' | '';
  /** Public URL; empty if nothing serves. */
  readonly url: string;
  /** Paths of an MCP server that are served without inspection. Absent if there are none. */
  readonly uninspectedPaths?: readonly string[];
  /** Present only if it is an MCP route, and its consent pages or callback have the origin of web routes. */
  readonly isConsentExposed?: true;
  /** Present only if users connect to its upstream. */
  readonly upstreamAuth?: UpstreamAuthVerdict;
  /** The certificates that serve its host and that it names. Absent if there are none. */
  readonly certificates?: readonly CertificateValidity[];
  /** Present only while the settings keep the route from serving. */
  readonly waiting?: WaitingRoute;
}

/** What is known of the upstream OAuth of a route from its configuration. */
export interface UpstreamAuthVerdict {
  /** It changes with everything that discovery and connections depend on. */
  readonly configuration: string;
  /** The host that discovery would have to ask, and may not ask by the settings. Absent if there is none. */
  readonly unlistedHost?: string;
}

/** A route that serves once the settings allow it. */
export interface WaitingRoute {
  /** Hosts that it asks for and that no other namespace owns. */
  readonly hosts: readonly string[];
  /** Its last good generation. */
  readonly served?: Pick<Served, 'generation' | 'spec'>;
}

/** The verdict on the settings. */
export interface SettingsVerdict extends Verdict<StoredSettings> {
  /** Keys of all snapshot resources that are compiled from them; empty if they do not serve. */
  readonly keys: readonly string[];
  /** The default certificate. Absent if there is none. */
  readonly certificates?: readonly CertificateValidity[];
  /** The number of routes that serve. */
  readonly attachedRoutes: number;
}
