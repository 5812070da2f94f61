import { isDeepStrictEqual } from 'node:util';

import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Changes } from '../compile/compilation.ts';
import { isOfClass } from '../compile/read-stored.ts';
import type { KubernetesApi, ResourceType, Scope } from '../kubernetes/kubernetes-api.ts';
import type { OnObjectChange } from '../kubernetes/object-cache.ts';
import type { Service } from '../kubernetes/objects.ts';
import { parseEndpointSlice } from '../kubernetes/parse-endpoint-slice.ts';
import { parseReferenceGrant } from '../kubernetes/parse-reference-grant.ts';
import { parseSecretValues } from '../kubernetes/parse-secret-values.ts';
import { parseProxyService, parseService } from '../kubernetes/parse-service.ts';
import { parseStoredRoute, parseStoredSettings } from '../kubernetes/parse-stored.ts';
import type { WatchHealth } from '../kubernetes/reflector-health.ts';
import { Reflector, type ReflectorOptions, type ReflectorTimes } from '../kubernetes/reflector.ts';
import {
  ENDPOINT_SLICES,
  GATEWAY_SETTINGS,
  NAMESPACES,
  REFERENCE_GRANTS,
  ROUTES,
  SECRETS,
  SERVICES,
} from '../kubernetes/resource-types.ts';
import type {
  StoredResource,
  StoredRoute,
  StoredSettings,
} from '../kubernetes/stored-resources.ts';
import { Holdoff } from './holdoff.ts';
import type { ReleasedRoute } from './released-route.ts';
import { PendingChanges } from './pending-changes.ts';

/** Longer than an API server that works takes to answer. */
const SECRET_PATIENCE_MS = 10_000;

export interface ClusterWatchOptions {
  readonly api: KubernetesApi;
  readonly logger: Logger;
  /** Routes and settings for other gateways are as good as absent. */
  readonly gatewayClass: string;
  /** The settings of this gateway. Their namespace is the one that Gatehouse is installed in. */
  readonly settings: { readonly namespace: string; readonly name: string };
  /** Where Routes and what they refer to are looked for. Absent: everywhere. */
  readonly namespaces?: readonly string[];
  /** The Service in front of the proxies, in the namespace of the settings. */
  readonly proxyService?: string;
  /**
   * Takes what changed, one call at a time. When it throws or rejects that is logged, and the
   * changes do not come again.
   */
  readonly onChanges: (changes: Changes) => void | Promise<void>;
  /**
   * Takes Routes and settings of which nothing but their status changed, and Routes that part with
   * the gateway, at once.
   */
  readonly onStatusChange?: (change: StatusChange) => void;
  /** The Service in front of the proxies changed; undefined: there is none. */
  readonly onProxyServiceChange?: (service: Service | undefined) => void;
  readonly times?: Partial<ReflectorTimes>;
  /** How long changes wait for a Secret at most. */
  readonly secretPatienceMs?: number;
}

/** A Route or the settings, as they are now. */
export type StatusChange =
  | { readonly kind: 'route'; readonly key: string; readonly route: StoredRoute }
  | {
      readonly kind: 'released-route';
      readonly key: string;
      /** Undefined: it is gone altogether, or serves again. */
      readonly released: ReleasedRoute | undefined;
    }
  | { readonly kind: 'settings'; readonly settings: StoredSettings };

/** What is followed only while something refers to it. */
export interface Wanted {
  /** `namespace/name` of Secrets. */
  readonly secretNames: ReadonlySet<string>;
  /** Whether labels of namespaces matter. */
  readonly namespaces: boolean;
}

/**
 * Everything in the cluster that the configuration is made of, as changes.
 *
 * Nothing is handed over before all of it is known: the first changes are the whole. From then on
 * changes are gathered for a moment. What only the status of a Route or of the settings says is no
 * change, and is told by itself.
 *
 * Changes wait for what something began to refer to: for a Secret as long as its patience lasts, or
 * until we are told that we may not read it. It counts as missing then, until it can be read after
 * all. A change of the settings never waits: they say what is referred to.
 */
export class ClusterWatch implements AsyncDisposable {
  readonly #options: ClusterWatchOptions;
  readonly #reflectors = new Set<Followed>();
  /** Those that must be known before anything is handed over. */
  readonly #unsynced = new Set<Followed>();
  /** Those that something refers to, and changes are held back for. */
  readonly #awaited = new Set<Followed>();
  readonly #routes: readonly Reflector<StoredRoute>[];
  /** Keys of those that were told of. */
  readonly #released = new Set<string>();
  readonly #settings: Reflector<StoredSettings>;
  readonly #secrets = new Map<string, Reflector<ReadonlyMap<string, Buffer>>>();
  #namespaces: Reflector<Readonly<Record<string, string>>> | undefined;
  readonly #holdoff = new Holdoff(() => this.#handOver());
  #pending = new PendingChanges();
  /** Whether there is something to hand over. At first there always is: that nothing is there. */
  #isPending = true;
  /** Whether something is followed that nobody has been told of. */
  #isOwing = true;

  constructor(options: ClusterWatchOptions) {
    this.#options = options;
    this.#pending.settings = null;
    const { namespace, name } = options.settings;
    this.#settings = this.#follow(
      GATEWAY_SETTINGS,
      { namespace, name },
      {
        parse: parseStoredSettings,
        onChange: (_key, after, before) => this.#noteSettings(after, before),
      },
    );
    const scopes: readonly Scope[] = options.namespaces?.map((each) => ({ namespace: each })) ?? [
      {},
    ];
    this.#routes = scopes.map((scope) => this.#followRoutes(scope));
    for (const scope of scopes) this.#followReferents(scope);
    if (options.proxyService !== undefined) {
      this.#followProxyService({ namespace, name: options.proxyService });
    }
  }

  /** How well each type can be followed. */
  get health(): readonly WatchHealth[] {
    return [...this.#reflectors].map(({ health }) => health);
  }

  /** A Route as it is now, with its status, by `namespace/name`. */
  route(key: string): StoredRoute | undefined {
    for (const routes of this.#routes) {
      const route = this.#servable(routes.get(key));
      if (route !== undefined) return route;
    }
    return undefined;
  }

  /** The settings as they are now, with their status. */
  get settings(): StoredSettings | undefined {
    const { namespace, name } = this.#options.settings;
    return this.#ours(this.#settings.get(`${namespace}/${name}`));
  }

  /**
   * Follows these Secrets and, if wanted, the labels of namespaces, and nothing else of the kind.
   *
   * Returns whether the changes handed over so far lack any of it. Then others come, and with them
   * all of it, once it is known: a Secret that is not there comes as undefined.
   */
  follow({ secretNames, namespaces }: Wanted): boolean {
    for (const key of secretNames) {
      if (!this.#secrets.has(key)) this.#secrets.set(key, this.#followSecret(key));
    }
    for (const [key, secret] of this.#secrets) {
      if (!secretNames.has(key)) this.#dropSecret(key, secret);
    }
    if (namespaces) this.#namespaces ??= this.#followNamespaces();
    else this.#dropNamespaces();
    return this.#isOwing;
  }

  /** Ends it all, after the call under way. Not to be waited for in that call. */
  async [Symbol.asyncDispose](): Promise<void> {
    const endings = [...this.#reflectors].map((reflector) => reflector[Symbol.asyncDispose]());
    await Promise.all([...endings, this.#holdoff[Symbol.asyncDispose]()]);
  }

  #followRoutes(scope: Scope): Reflector<StoredRoute> {
    return this.#follow(ROUTES, scope, {
      parse: parseStoredRoute,
      onChange: (key, after, before) => {
        const route = this.#servable(after);
        this.#noteRelease(key, after);
        if (isSameToCompile(route, this.#servable(before))) {
          if (route !== undefined) this.#tellStatus({ kind: 'route', key, route });
          return;
        }
        this.#pending.routes.set(key, route);
        this.#note();
      },
    });
  }

  #noteRelease(key: string, after: StoredRoute | undefined): void {
    const released = this.#releasedRoute(after);
    if (released !== undefined) this.#released.add(key);
    else if (!this.#released.delete(key)) return;
    this.#tellStatus({ kind: 'released-route', key, released });
  }

  #releasedRoute(route: StoredRoute | undefined): ReleasedRoute | undefined {
    if (route === undefined || this.#servable(route) !== undefined) return undefined;
    if (this.#ours(route) !== undefined) return { route, why: 'deleted' };
    const isOurStatus = route.status?.gatewayClassName === this.#options.gatewayClass;
    return isOurStatus ? { route, why: 'other-class' } : undefined;
  }

  #noteSettings(after: StoredSettings | undefined, before: StoredSettings | undefined): void {
    const settings = this.#ours(after);
    if (isSameToCompile(settings, this.#ours(before))) {
      if (settings !== undefined) this.#tellStatus({ kind: 'settings', settings });
      return;
    }
    this.#pending.settings = settings ?? null;
    this.#note();
  }

  #tellStatus(change: StatusChange): void {
    this.#options.onStatusChange?.(change);
  }

  /** What Routes refer to. */
  #followReferents(scope: Scope): void {
    this.#follow(SERVICES, scope, {
      parse: parseService,
      onChange: this.#noteIn(({ services }) => services),
    });
    this.#follow(ENDPOINT_SLICES, scope, {
      parse: parseEndpointSlice,
      onChange: this.#noteIn(({ endpointSlices }) => endpointSlices),
    });
    this.#follow(REFERENCE_GRANTS, scope, {
      isOptional: true,
      parse: parseReferenceGrant,
      onChange: this.#noteIn(({ referenceGrants }) => referenceGrants),
    });
  }

  #followSecret(key: string): Reflector<ReadonlyMap<string, Buffer>> {
    const [namespace = '', name = ''] = key.split('/');
    // That it is not there has to be told too.
    this.#pending.secrets.set(key, undefined);
    this.#isOwing = true;
    const secret = this.#open(
      SECRETS,
      { namespace, name },
      {
        parse: parseSecretValues,
        onChange: this.#noteIn(({ secrets }) => secrets),
      },
    );
    this.#awaitReferent(secret, secret.answered);
    this.#impatience(secret);
    return secret;
  }

  #impatience(secret: Followed): void {
    const { secretPatienceMs = SECRET_PATIENCE_MS } = this.#options;
    const timer = setTimeout(() => this.#waitNoLonger(secret), secretPatienceMs);
    timer.unref();
  }

  /** Holds changes back until it is known. */
  #awaitReferent(referent: Followed, known: Promise<void>): void {
    this.#awaited.add(referent);
    void known.then(() => this.#waitNoLonger(referent));
  }

  #waitNoLonger(referent: Followed): void {
    if (this.#awaited.delete(referent)) this.#note();
  }

  #dropSecret(key: string, secret: Followed): void {
    this.#secrets.delete(key);
    this.#drop(secret);
    this.#pending.secrets.set(key, undefined);
    this.#note();
  }

  #followNamespaces(): Reflector<Readonly<Record<string, string>>> {
    this.#isOwing = true;
    const namespaces = this.#open(
      NAMESPACES,
      {},
      {
        parse: ({ metadata }) => metadata.labels ?? {},
        onChange: this.#noteIn((pending) => pending.namespaces),
      },
    );
    // Without the labels no Route is where it may be: there is no patience.
    this.#awaitReferent(namespaces, namespaces.synced);
    return namespaces;
  }

  #dropNamespaces(): void {
    const namespaces = this.#namespaces;
    if (namespaces === undefined) return;
    this.#namespaces = undefined;
    this.#drop(namespaces);
    for (const name of namespaces.keys()) this.#pending.namespaces.set(name, undefined);
    this.#note();
  }

  /** Of no consequence to the configuration: changes do not wait for it. */
  #followProxyService(scope: Scope): void {
    const onProxyServiceChange = this.#options.onProxyServiceChange ?? ((): void => undefined);
    this.#open(SERVICES, scope, {
      parse: parseProxyService,
      onChange: (_key, after, before) => {
        if (!isDeepStrictEqual(after, before)) onProxyServiceChange(after);
      },
    });
  }

  #follow<Parsed>(type: ResourceType, scope: Scope, source: Source<Parsed>): Reflector<Parsed> {
    const reflector = this.#open(type, scope, source);
    this.#unsynced.add(reflector);
    void reflector.synced.then(() => {
      this.#unsynced.delete(reflector);
      this.#note();
    });
    return reflector;
  }

  #open<Parsed>(type: ResourceType, scope: Scope, source: Source<Parsed>): Reflector<Parsed> {
    const { api, logger, times = {} } = this.#options;
    const reflector = new Reflector({ ...source, api, logger, times, type, scope });
    this.#reflectors.add(reflector);
    return reflector;
  }

  #drop(reflector: Followed): void {
    this.#reflectors.delete(reflector);
    this.#awaited.delete(reflector);
    // It never rejects; what it was told last is dropped with it.
    void reflector[Symbol.asyncDispose]();
  }

  /** Takes down what of an object has changed, unless it is nothing that is kept. */
  #noteIn<Parsed>(
    of: (pending: PendingChanges) => Map<string, Parsed | undefined>,
  ): OnObjectChange<Parsed> {
    return (key, after, before) => {
      if (isDeepStrictEqual(after, before)) return;
      of(this.#pending).set(key, after);
      this.#note();
    };
  }

  #note(): void {
    this.#isPending = true;
    if (!this.#isWaiting()) this.#holdoff.touch();
  }

  #isWaiting(): boolean {
    if (this.#unsynced.size > 0) return true;
    return this.#awaited.size > 0 && this.#pending.settings === undefined;
  }

  async #handOver(): Promise<void> {
    if (this.#isWaiting() || !this.#isPending) return;
    const changes = this.#pending;
    this.#pending = new PendingChanges();
    this.#isPending = false;
    this.#isOwing = this.#awaited.size > 0;
    try {
      await this.#options.onChanges(changes);
    } catch (error) {
      this.#options.logger.error('changes in the cluster not handled', {}, error);
    }
  }

  #ours<R extends StoredResource<unknown>>(resource: R | undefined): R | undefined {
    return isOfClass(resource?.spec, this.#options.gatewayClass) ? resource : undefined;
  }

  /** A Route that is being deleted is as good as gone. */
  #servable(route: StoredRoute | undefined): StoredRoute | undefined {
    return route?.metadata.deletionTimestamp === undefined ? this.#ours(route) : undefined;
  }
}

/** A reflector of whatever. */
interface Followed extends AsyncDisposable {
  readonly health: WatchHealth;
}

type Source<Parsed> = Pick<ReflectorOptions<Parsed>, 'parse' | 'onChange' | 'isOptional'>;

/** Whether the compiler sees no difference: status is written without another generation. */
function isSameToCompile(
  one: StoredResource<unknown> | undefined,
  other: StoredResource<unknown> | undefined,
): boolean {
  if (one === undefined || other === undefined) return one === other;
  const { uid, generation, creationTimestamp } = one.metadata;
  return (
    uid === other.metadata.uid &&
    generation === other.metadata.generation &&
    creationTimestamp === other.metadata.creationTimestamp
  );
}
