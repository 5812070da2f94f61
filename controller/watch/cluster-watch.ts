import { monotonicClock, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { KubernetesApi, ResourceType, Scope } from '../kubernetes/kubernetes-api.ts';
import type { EndpointSlice, ReferenceGrant, Service } from '../kubernetes/objects.ts';
import { parseEndpointSlice } from '../kubernetes/parse-endpoint-slice.ts';
import { parseReferenceGrant } from '../kubernetes/parse-reference-grant.ts';
import { parseProxyService, parseService } from '../kubernetes/parse-service.ts';
import { parseStoredSettings } from '../kubernetes/parse-stored.ts';
import type { WatchHealth } from '../kubernetes/reflector-health.ts';
import type { ReflectorTimes } from '../kubernetes/reflector-times.ts';
import type { Reflector } from '../kubernetes/reflector.ts';
import {
  ENDPOINT_SLICES,
  GATEWAY_SETTINGS,
  REFERENCE_GRANTS,
  SERVICES,
} from '../kubernetes/resource-types.ts';
import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';
import type { ControllerMetrics } from '../telemetry/controller-metrics.ts';
import { ChangeBatcher, type OnChanges } from './change-batcher.ts';
import { GatewayClassFilter, compilesToSame } from './gateway-class-filter.ts';
import { onDifference, ReflectorSet, type ReflectorSource } from './reflector-set.ts';
import type { OnStatusChange } from './status-change.ts';
import { WatchedReferences, type References } from './watched-references.ts';
import { WatchedRoutes } from './watched-routes.ts';

/** How long changes wait for a Secret: longer than a working API server takes to respond. */
const SECRET_PATIENCE_MS = 10_000;

/** An object that belongs to the proxies, in the namespace of the settings by default. */
export interface ProxyObject {
  readonly namespace?: string;
  readonly name: string;
}

/** Options of a ClusterWatch. */
export interface ClusterWatchOptions {
  readonly api: KubernetesApi;
  readonly logger: Logger;
  readonly metrics: Pick<ControllerMetrics, 'watches'>;
  readonly clock?: Clock;
  /** Routes and settings of other classes are ignored. */
  readonly gatewayClass: string;
  /** The settings of this gateway. Gatehouse is installed in their namespace. */
  readonly settings: { readonly namespace: string; readonly name: string };
  /** Namespaces of Routes and the resources they refer to; absent: all. */
  readonly namespaces?: readonly string[];
  /** The Service in front of the proxies. */
  readonly proxyService?: ProxyObject;
  /** Receives one batch of changes at a time. If it throws or rejects, the error is logged. */
  readonly onChanges: OnChanges;
  /** Receives changes that affect only statuses, as soon as they happen. */
  readonly onStatusChange?: OnStatusChange;
  /** Receives the Service in front of the proxies; undefined: it does not exist. */
  readonly onProxyServiceChange?: (service: Service | undefined) => void;
  readonly times?: Partial<ReflectorTimes>;
  /** The longest time that changes wait for a Secret. */
  readonly secretPatienceMs?: number;
}

/**
 * Watches everything in the cluster that the configuration is compiled from, and reports changes.
 *
 * The first batch of changes contains everything, once all of it has loaded. A change of only the
 * status of a Route or of the settings is reported separately.
 *
 * Changes wait until new references have loaded. They wait for a Secret only for a limited time, or
 * until the API server refuses access to it. The Secret then counts as missing until it can be read.
 */
export class ClusterWatch implements AsyncDisposable {
  readonly #options: ClusterWatchOptions;
  readonly #reflectors: ReflectorSet;
  readonly #batcher: ChangeBatcher;
  readonly #filter: GatewayClassFilter;
  readonly #onStatusChange: OnStatusChange;
  readonly #routes: WatchedRoutes;
  readonly #references: WatchedReferences;
  readonly #settings: Reflector<StoredSettings>;

  constructor(options: ClusterWatchOptions) {
    const { api, logger, clock = monotonicClock, onChanges, namespaces } = options;
    const { times = {}, secretPatienceMs = SECRET_PATIENCE_MS } = options;
    const metrics = options.metrics.watches;
    this.#options = options;
    this.#onStatusChange = options.onStatusChange ?? (() => undefined);
    this.#reflectors = new ReflectorSet({ api, logger, metrics, clock, times });
    metrics.readFrom(() => this.#reflectors.health);
    this.#batcher = new ChangeBatcher({ clock, logger, onChanges });
    this.#filter = new GatewayClassFilter(options.gatewayClass);
    const scopes = namespaces?.map((namespace) => ({ namespace })) ?? [{}];
    const common = { reflectors: this.#reflectors, batcher: this.#batcher };
    this.#settings = this.#watchSettings();
    this.#routes = new WatchedRoutes(
      { ...common, filter: this.#filter, onStatusChange: this.#onStatusChange },
      scopes,
    );
    this.#references = new WatchedReferences({
      ...{ ...common, api, logger, clock, secretPatienceMs },
    });
    for (const scope of scopes) this.#watchBackends(scope);
    this.#watchProxyService();
  }

  /** The health of the watch of each type. */
  get health(): readonly WatchHealth[] {
    return this.#reflectors.health;
  }

  /** A Route of this gateway with its status, by `namespace/name`. */
  route(key: string): StoredRoute | undefined {
    return this.#routes.get(key);
  }

  /** The settings of this gateway with their status. */
  get settings(): StoredSettings | undefined {
    const { namespace, name } = this.#options.settings;
    return this.#filter.select(this.#settings.get(`${namespace}/${name}`));
  }

  /**
   * Watches these references, and no others of their types.
   *
   * Returns whether the changes reported so far lack any of them. The missing ones are then reported
   * once they have loaded; a Secret that does not exist is reported as undefined.
   */
  subscribe(references: References): boolean {
    this.#references.subscribe(references);
    return this.#batcher.isLackingReferences;
  }

  /** Stops watching, after the call of `onChanges` in progress. That call must not wait for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.#references[Symbol.asyncDispose](),
      this.#reflectors[Symbol.asyncDispose](),
      this.#batcher[Symbol.asyncDispose](),
    ]);
  }

  #watchSettings(): Reflector<StoredSettings> {
    return this.#open(GATEWAY_SETTINGS, this.#options.settings, {
      parse: parseStoredSettings,
      onChange: (_key, after, before) => {
        const settings = this.#filter.select(after);
        if (!compilesToSame(settings, this.#filter.select(before))) {
          this.#batcher.change((batch) => (batch.settings = settings ?? null));
        } else if (settings !== undefined) {
          this.#onStatusChange({ kind: 'settings', settings });
        }
      },
    });
  }

  /** Watches the resources that Routes refer to. */
  #watchBackends(scope: Scope): void {
    const batcher = this.#batcher;
    this.#open(SERVICES, scope, {
      parse: parseService,
      onChange: onDifference((key, service: Service | undefined) =>
        batcher.change(({ services }) => services.set(key, service)),
      ),
    });
    this.#open(ENDPOINT_SLICES, scope, {
      parse: parseEndpointSlice,
      onChange: onDifference((key, slice: EndpointSlice | undefined) =>
        batcher.change(({ endpointSlices }) => endpointSlices.set(key, slice)),
      ),
    });
    this.#open(REFERENCE_GRANTS, scope, {
      isOptional: true,
      parse: parseReferenceGrant,
      onChange: onDifference((key, grant: ReferenceGrant | undefined) =>
        batcher.change(({ referenceGrants }) => referenceGrants.set(key, grant)),
      ),
    });
  }

  /** Watches a Service that does not affect the configuration, so changes do not wait for it. */
  #watchProxyService(): void {
    const { proxyService, settings, onProxyServiceChange } = this.#options;
    if (proxyService === undefined || onProxyServiceChange === undefined) return;
    const scope = { namespace: settings.namespace, ...proxyService };
    this.#reflectors.open(SERVICES, scope, {
      parse: parseProxyService,
      onChange: onDifference((_key, service: Service | undefined) => onProxyServiceChange(service)),
    });
  }

  #open<Parsed>(
    type: ResourceType,
    scope: Scope,
    source: ReflectorSource<Parsed>,
  ): Reflector<Parsed> {
    const reflector = this.#reflectors.open(type, scope, source);
    this.#batcher.requireSource(reflector, reflector.synced);
    return reflector;
  }
}
