import { isDeepStrictEqual } from 'node:util';

import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { KubernetesObject, Service } from '../kubernetes/objects.ts';
import { GATEWAY_SETTINGS, ROUTES } from '../kubernetes/resource-types.ts';
import type { Publication } from '../push/publication.ts';
import type { PartedRoute } from '../watch/parted-route.ts';
import { combineProgramming } from './combine-programming.ts';
import { compareStatus, type Status } from './compare-status.ts';
import { reportGateway } from './gateway-report.ts';
import { partingStatus } from './parting-status.ts';
import { routeStatus, type RouteStatus } from './route-status.ts';
import { settingsStatus, type SettingsStatus } from './settings-status.ts';
import type { StatusWrite } from './status-writer.ts';

/** A verdict on either kind of resource. */
export type EitherVerdict =
  | { readonly kind: 'route'; readonly verdict: RouteVerdict }
  | { readonly kind: 'settings'; readonly verdict: SettingsVerdict };

/** A status to be written, and the one that it takes the place of. */
export interface BookWrite extends StatusWrite {
  readonly key: string;
  readonly status: Status;
  readonly before: Status | undefined;
  /** Whether it is the last one, of a Route that does not serve here any more. */
  readonly isParting: boolean;
}

/** What an object has. */
interface Seen {
  readonly uid: string | undefined;
  readonly status: Status | undefined;
  /**
   * What was written and became this, or was refused: when a server makes something else of it, or
   * takes it never, writing it again is in vain.
   */
  readonly triedStatus?: Status;
}

export interface StatusBookOptions {
  readonly gatewayClass: string;
  readonly wallTime: () => Date;
}

/** Everything that statuses are made of, and the statuses that there are. */
export class StatusBook {
  service: Service | undefined;
  publication: Publication | undefined;
  obstacle: string | undefined;
  readonly #gatewayClass: string;
  readonly #wallTime: () => Date;
  readonly #verdicts = new Map<string, EitherVerdict>();
  /** Routes that do not serve here any more, whatever verdict there was on them. */
  readonly #parted = new Map<string, PartedRoute>();
  readonly #seen = new Map<string, Seen>();

  constructor({ gatewayClass, wallTime }: StatusBookOptions) {
    this.#gatewayClass = gatewayClass;
    this.#wallTime = wallTime;
  }

  /** Keys of what there is something to say about. */
  keys(): Iterable<string> {
    return [...this.#verdicts.keys(), ...this.#parted.keys()];
  }

  has(key: string): boolean {
    return this.#verdicts.has(key) || this.#parted.has(key);
  }

  setVerdict(key: string, verdict: EitherVerdict | undefined): void {
    if (verdict === undefined) this.#verdicts.delete(key);
    else this.#verdicts.set(key, verdict);
  }

  /** Notes an object that the watch brought. Tells whether its status is another than was known. */
  see(key: string, object: KubernetesObject | undefined): boolean {
    if (object === undefined) {
      // To those who serve it is gone; what it says is still there to be taken back.
      if (!this.#parted.has(key)) this.#seen.delete(key);
      return false;
    }
    const known = this.#seen.get(key);
    const next = { uid: object.metadata.uid, status: statusOf(object) };
    const isSameObject = known !== undefined && known.uid === next.uid;
    if (isSameObject && isDeepStrictEqual(known.status, next.status)) return false;
    this.#seen.set(key, next);
    return true;
  }

  /** Notes a Route that does not serve here any more; undefined: it is gone, or serves again. */
  part(key: string, parted: PartedRoute | undefined): void {
    if (parted === undefined) {
      this.#parted.delete(key);
      this.#seen.delete(key);
      return;
    }
    this.#parted.set(key, parted);
    this.see(key, parted.object);
  }

  hasParted(key: string): boolean {
    return this.#parted.has(key);
  }

  /** What is to be written about an object; undefined: nothing. */
  writeOf(key: string): BookWrite | undefined {
    const parted = this.#parted.get(key);
    if (parted !== undefined) return this.#partingWriteOf(key, parted);
    const entry = this.#verdicts.get(key);
    if (entry === undefined || this.publication === undefined) return undefined;
    const { metadata, status } = entry.verdict.resource;
    const { uid } = metadata;
    const seen = this.#seen.get(key) ?? { uid, status };
    // There is another object of the name, and no verdict on it yet.
    if (seen.uid !== uid) return undefined;
    const wanted = this.#wantedStatus(entry, seen.status, this.publication);
    if (!isNews(seen, wanted)) return undefined;
    const type = entry.kind === 'route' ? ROUTES : GATEWAY_SETTINGS;
    const place = {
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      ...(uid !== undefined && { uid }),
    };
    return { key, type, place, status: wanted, before: seen.status, isParting: false };
  }

  #partingWriteOf(key: string, parted: PartedRoute): BookWrite | undefined {
    const { metadata } = parted.object;
    const { namespace = '', name, uid } = metadata;
    const seen = this.#seen.get(key);
    if (this.publication === undefined || seen === undefined || seen.uid !== uid) return undefined;
    // What is under a key of a Route has the status of one.
    const before = seen.status as RouteStatus | undefined;
    const status = partingStatus(parted, this.#gatewayClass, {
      current: before,
      now: this.#wallTime(),
    });
    if (status === undefined || !isNews(seen, status)) return undefined;
    const place = { namespace, name, ...(uid !== undefined && { uid }) };
    return { key, type: ROUTES, place, status, before, isParting: true };
  }

  /** `object` is what the API server made of a write. */
  written({ key, status }: BookWrite, object: KubernetesObject): void {
    if (!this.has(key)) return;
    const { uid } = object.metadata;
    this.#seen.set(key, { uid, status: statusOf(object), triedStatus: status });
  }

  refused({ key, status, before, place: { uid } }: BookWrite): void {
    this.#seen.set(key, { uid, status: before, triedStatus: status });
  }

  #wantedStatus(
    entry: EitherVerdict,
    current: Status | undefined,
    publication: Publication,
  ): Status {
    const programming = combineProgramming(
      keysOf(entry).map((resource) => publication.programming(resource)),
    );
    const common = { programming, obstacle: this.obstacle, now: this.#wallTime() };
    if (entry.kind === 'route') {
      // What is under a key of a Route has the status of one.
      const before = current as RouteStatus | undefined;
      const { verdict } = entry;
      return routeStatus({ ...common, verdict, gatewayClass: this.#gatewayClass, current: before });
    }
    const before = current as SettingsStatus | undefined;
    // What is held back does not serve, and what served does.
    const held = this.obstacle === undefined ? undefined : before?.attachedRoutes;
    const attachedRoutes = held ?? entry.verdict.attachedRoutes;
    const gateway = reportGateway({ service: this.service, publication, attachedRoutes });
    return settingsStatus({ ...common, verdict: entry.verdict, gateway, current: before });
  }
}

/** Whether a status is another than there is, and was not tried in vain. */
function isNews({ status, triedStatus }: Seen, wanted: Status): boolean {
  if (compareStatus(status, wanted) === 'none') return false;
  return triedStatus === undefined || compareStatus(triedStatus, wanted) !== 'none';
}

/** Of what it comes to in the snapshot. */
function keysOf({ kind, verdict }: EitherVerdict): readonly string[] {
  if (kind === 'settings') return verdict.keys;
  return verdict.served === undefined ? [] : [verdict.served.key];
}

function statusOf(object: KubernetesObject): Status | undefined {
  // The API server holds it to the schema of our CRD.
  return (object as KubernetesObject & { readonly status?: Status }).status;
}
