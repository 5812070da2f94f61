import { isRouteKey, SETTINGS_KEY } from '../../shared/snapshot/resource-key.ts';
import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { KubernetesObject, ObjectMeta, Service } from '../kubernetes/objects.ts';
import { parseStoredRoute, parseStoredSettings } from '../kubernetes/parse-stored.ts';
import { GATEWAY_SETTINGS, ROUTES } from '../kubernetes/resource-types.ts';
import type {
  RouteStatus,
  SettingsStatus,
  StoredRoute,
  StoredSettings,
} from '../kubernetes/stored-resources.ts';
import type { Publication } from '../push/publication.ts';
import type { ReleasedRoute } from '../watch/released-route.ts';
import type { Status } from './compare-status.ts';
import { isWorthWriting, ObservedStatuses, type ObservedStatus } from './observed-statuses.ts';
import { releasedStatus } from './released-status.ts';
import type { StatusWrite } from './status-writer.ts';
import { UpstreamAuthChanges } from './upstream-auth-changes.ts';
import type { VerdictTally } from './verdict-tally.ts';
import { wantedRouteStatus, wantedSettingsStatus, type GatewayState } from './wanted-status.ts';

/** A status to be written, and the one that it replaces. */
export type BookWrite = RouteWrite | SettingsWrite;

interface WriteOf<Kind extends string, S extends Status> extends StatusWrite {
  readonly kind: Kind;
  readonly key: string;
  readonly status: S;
  readonly before: S | undefined;
}

interface RouteWrite extends WriteOf<'route', RouteStatus> {
  /** It is the last status that this gateway writes to the Route. */
  readonly isRelease: boolean;
}

type SettingsWrite = WriteOf<'settings', SettingsStatus>;

/** Options of a StatusBook. */
export interface StatusBookOptions {
  readonly gatewayClass: string;
  readonly wallTime: () => Date;
  /** Counts the verdicts that are known. */
  readonly tally: VerdictTally;
}

/**
 * Decides which statuses have to be written, from the verdicts and the stored statuses. Resources have
 * the keys of the snapshot.
 */
export class StatusBook {
  service: Service | undefined;
  publication: Publication | undefined;
  obstacle: string | undefined;
  readonly #options: StatusBookOptions;
  readonly #verdicts = new Map<string, RouteVerdict>();
  readonly #upstreamAuth = new UpstreamAuthChanges();
  /** Routes that this gateway must stop serving, regardless of their verdicts. */
  readonly #released = new Map<string, ReleasedRoute>();
  readonly #routes = new ObservedStatuses<RouteStatus>();
  readonly #settings = new ObservedStatuses<SettingsStatus>();
  #settingsVerdict: SettingsVerdict | undefined;

  constructor(options: StatusBookOptions) {
    this.#options = options;
  }

  /** Keys of the resources that may need a status. */
  keys(): Iterable<string> {
    const settings = this.#settingsVerdict === undefined ? [] : [SETTINGS_KEY];
    return [...this.#verdicts.keys(), ...this.#released.keys(), ...settings];
  }

  /** Keys of the resources whose statuses depend on the time. */
  keysWithCertificates(): readonly string[] {
    const routes = [...this.#verdicts].filter(([, { certificates }]) => certificates !== undefined);
    const hasDefault = this.#settingsVerdict?.certificates !== undefined;
    return [...routes.map(([key]) => key), ...(hasDefault ? [SETTINGS_KEY] : [])];
  }

  has(key: string): boolean {
    if (key === SETTINGS_KEY) return this.#settingsVerdict !== undefined;
    return this.#verdicts.has(key) || this.#released.has(key);
  }

  /** The generation that a key of the snapshot is compiled from; undefined if nothing of it serves. */
  servedGeneration(key: string): number | undefined {
    const verdict = isRouteKey(key) ? this.#verdicts.get(key) : this.#settingsVerdict;
    return verdict?.served?.generation;
  }

  /** Sets the verdict on a Route; undefined: it is deleted. */
  setRouteVerdict(key: string, verdict: RouteVerdict | undefined): void {
    this.#options.tally.replaceRoute(this.#verdicts.get(key), verdict);
    this.#upstreamAuth.observe(key, verdict, this.#options.wallTime().getTime());
    if (verdict === undefined) this.#verdicts.delete(key);
    else this.#verdicts.set(key, verdict);
  }

  setSettingsVerdict(verdict: SettingsVerdict | undefined): void {
    this.#options.tally.replaceSettings(this.#settingsVerdict, verdict);
    this.#settingsVerdict = verdict;
  }

  /** Records a Route that the watch reported. Returns whether its status differs from the known one. */
  observeRoute(key: string, route: StoredRoute | undefined): boolean {
    if (route !== undefined) return this.#routes.observe(key, route);
    // The status of a released Route still has to be replaced.
    if (!this.#released.has(key)) this.#routes.forget(key);
    return false;
  }

  /** Records settings that the watch reported. Returns whether their status differs. */
  observeSettings(settings: StoredSettings | undefined): boolean {
    if (settings !== undefined) return this.#settings.observe(SETTINGS_KEY, settings);
    this.#settings.forget(SETTINGS_KEY);
    return false;
  }

  /** Records that a Route is released; undefined: it was deleted, or is served again. */
  release(key: string, released: ReleasedRoute | undefined): void {
    if (released === undefined) {
      this.#released.delete(key);
      this.#routes.forget(key);
      return;
    }
    this.#released.set(key, released);
    this.#routes.observe(key, released.route);
  }

  isReleased(key: string): boolean {
    return this.#released.has(key);
  }

  /** The status to write to a resource; undefined if it needs none. */
  writeOf(key: string): BookWrite | undefined {
    const { publication, obstacle, service } = this;
    if (publication === undefined) return undefined;
    const { gatewayClass, wallTime } = this.#options;
    const gateway = { gatewayClass, publication, obstacle, service, now: wallTime() };
    if (key === SETTINGS_KEY) return this.#settingsWrite(gateway);
    const released = this.#released.get(key);
    return released === undefined
      ? this.#routeWrite(key, gateway)
      : this.#releaseWrite(key, released, gateway);
  }

  /** Records a write, and the object that the API server returned for it. */
  written(write: BookWrite, object: KubernetesObject): void {
    const { uid } = object.metadata;
    if (!this.has(write.key)) return;
    if (write.kind === 'route') {
      const { status } = parseStoredRoute(object);
      this.#routes.record(write.key, { uid, status, triedStatus: write.status });
    } else {
      const { status } = parseStoredSettings(object);
      this.#settings.record(write.key, { uid, status, triedStatus: write.status });
    }
  }

  /** Records a write that the API server refused. */
  refused(write: BookWrite): void {
    const { uid } = write.place;
    if (write.kind === 'route') {
      this.#routes.record(write.key, { uid, status: write.before, triedStatus: write.status });
    } else {
      this.#settings.record(write.key, { uid, status: write.before, triedStatus: write.status });
    }
  }

  #routeWrite(key: string, gateway: GatewayState): RouteWrite | undefined {
    const verdict = this.#verdicts.get(key);
    if (verdict === undefined) return undefined;
    const { metadata, status } = verdict.resource;
    const observed = this.#routes.get(key) ?? { uid: metadata.uid, status };
    const wanted = wantedRouteStatus(verdict, gateway, {
      current: observed.status,
      upstreamAuthSince: this.#upstreamAuth.since(key),
    });
    if (!isWriteTo(metadata, observed, wanted)) return undefined;
    const change = { status: wanted, before: observed.status };
    return {
      kind: 'route',
      key,
      type: ROUTES,
      place: placeOf(metadata),
      ...change,
      isRelease: false,
    };
  }

  #settingsWrite(gateway: GatewayState): SettingsWrite | undefined {
    const verdict = this.#settingsVerdict;
    if (verdict === undefined) return undefined;
    const { metadata, status } = verdict.resource;
    const observed = this.#settings.get(SETTINGS_KEY) ?? { uid: metadata.uid, status };
    const wanted = wantedSettingsStatus(verdict, gateway, observed.status);
    if (!isWriteTo(metadata, observed, wanted)) return undefined;
    const change = { status: wanted, before: observed.status };
    const place = placeOf(metadata);
    return { kind: 'settings', key: SETTINGS_KEY, type: GATEWAY_SETTINGS, place, ...change };
  }

  #releaseWrite(
    key: string,
    released: ReleasedRoute,
    { gatewayClass, now }: GatewayState,
  ): RouteWrite | undefined {
    const { metadata } = released.route;
    const observed = this.#routes.get(key);
    if (observed === undefined) return undefined;
    const status = releasedStatus(released, gatewayClass, { current: observed.status, now });
    if (status === undefined || !isWriteTo(metadata, observed, status)) return undefined;
    const place = placeOf(metadata);
    const change = { status, before: observed.status };
    return { kind: 'route', key, type: ROUTES, place, ...change, isRelease: true };
  }
}

/** Whether a status has to be written, and is about the object that exists now. */
function isWriteTo<S extends Status>(
  { uid }: ObjectMeta,
  observed: ObservedStatus<S>,
  wanted: S,
): boolean {
  return observed.uid === uid && isWorthWriting(observed, wanted);
}

function placeOf({ namespace = '', name, uid }: ObjectMeta): StatusWrite['place'] {
  return { namespace, name, ...(uid !== undefined && { uid }) };
}
