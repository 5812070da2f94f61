import type { EndpointSlice, ReferenceGrant, Service } from '../kubernetes/objects.ts';
import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';
import type { ChangeSet } from './change-set.ts';
import type { Problem } from '../validate/problem.ts';

/**
 * What changed since the compilation before, by `namespace/name`; undefined stands for gone.
 *
 * Objects are as the API server sends them. Where nothing is known of a Route or of GatewaySettings
 * yet, what served is read from `status.served`, and of a Route from `status.url` the host that it
 * served; the rest of `status` never is.
 */
export interface Changes {
  /** Routes of another class are as good as gone. */
  readonly routes?: ReadonlyMap<string, StoredRoute | undefined>;
  /**
   * The settings of this gateway; null: they are gone, and so is what was known of them. Without
   * settings no route serves, for they say whose may.
   */
  readonly settings?: StoredSettings | null;
  /** Values of a Secret by key. */
  readonly secrets?: ReadonlyMap<string, ReadonlyMap<string, Buffer> | undefined>;
  readonly services?: ReadonlyMap<string, Service | undefined>;
  readonly endpointSlices?: ReadonlyMap<string, EndpointSlice | undefined>;
  readonly referenceGrants?: ReadonlyMap<string, ReferenceGrant | undefined>;
  /** Labels, by name of the namespace. */
  readonly namespaces?: ReadonlyMap<string, Readonly<Record<string, string>> | undefined>;
}

/**
 * What a set of changes came to. While there is an obstacle, it tells of nothing but the settings:
 * the rest follows when the obstacle is gone.
 */
export interface Compilation extends ChangeSet {
  /** Routes of which something changed that their status tells; undefined: the route is gone. */
  readonly routes: ReadonlyMap<string, RouteVerdict | undefined>;
  /** Absent when nothing changed that their status tells; null: they are gone. */
  readonly settings?: SettingsVerdict | null;
}

/** What became of the newest generation of a resource, and what serves. */
interface Verdict<R> {
  /** The newest generation, as it came. */
  readonly resource: R;
  /** Whether it is what serves. */
  readonly isAccepted: boolean;
  /** Everything wrong with it; of what is accepted, references that lead nowhere. */
  readonly problems: readonly Problem[];
  /** What serves, of whatever generation; absent: nothing does. */
  readonly served?: Served;
}

/** A generation that serves. */
export interface Served {
  readonly generation: number;
  readonly spec: unknown;
  /** Key and hash of it in the snapshot. */
  readonly key: string;
  readonly hash: string;
}

export interface RouteVerdict extends Verdict<StoredRoute> {
  readonly mcpRole: 'server' | '';
  /** Public URL; empty when nothing serves. */
  readonly url: string;
  /** What it goes on with once it may serve again; absent unless it is not for the route to say. */
  readonly kept?: Kept;
}

/** What is left to a route that does not serve because of the settings, or is not admitted. */
export interface Kept {
  /** Hosts that it asks for, and no other namespace has got meanwhile. */
  readonly hosts: readonly string[];
  /** An earlier generation that was accepted. */
  readonly served?: Pick<Served, 'generation' | 'spec'>;
}

export interface SettingsVerdict extends Verdict<StoredSettings> {
  /** Keys of everything in the snapshot that comes of them; empty when they do not serve. */
  readonly keys: readonly string[];
  /** Routes that serve. */
  readonly attachedRoutes: number;
}

/**
 * A compiler that remembers: its cost follows the changes, not the number of routes.
 *
 * The result depends on nothing but the changes so far: no clock, no network. It depends on their
 * order in two ways, and on nothing else of it: while the newest generation of a resource is not
 * accepted, the one that was accepted last serves; and a host stays with the namespace that it
 * belongs to while any route there asks for it that is admitted, or no other route does. Another process takes up both from the statuses.
 */
export interface IncrementalCompiler {
  update(changes: Changes): Compilation;
  /**
   * Takes over from another process, given the newest objects with their statuses: the settings, and
   * all routes. What the statuses tell of a newer generation that serves, and of whose a host is,
   * goes before what was found out here: proxies have it from the process before.
   */
  adopt(newest: Pick<Changes, 'routes' | 'settings'>): Compilation;
  /**
   * Why nothing of what is compiled may be published; undefined when it may. The settings are not
   * valid, say, and no earlier generation is known: without them every route would go.
   */
  readonly obstacle: string | undefined;
  /** Routes in the snapshot. */
  readonly routeCount: number;
  /** `namespace/name` of the Secrets that the settings refer to, those that serve and the newest. */
  readonly secretNames: ReadonlySet<string>;
  /** How often a generation of a route was compiled. */
  readonly compilations: number;
  /** How often it was decided what serves of a route. */
  readonly decisions: number;
  /**
   * Whether the labels of namespaces decide anything. Until one namespace is known, nothing is then
   * compiled that was not before: settings that select namespaces are not told of either.
   */
  readonly needsNamespaces: boolean;
}
