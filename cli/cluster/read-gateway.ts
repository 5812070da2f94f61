import { isOfClass } from '../../controller/compile/is-of-class.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
  type ResourceType,
} from '../../controller/kubernetes/kubernetes-api.ts';
import { FORBIDDEN, NOT_FOUND } from '../../controller/kubernetes/error-codes.ts';
import type { KubernetesObject } from '../../controller/kubernetes/objects.ts';
import { parseStoredSettings } from '../../controller/kubernetes/parse-stored.ts';
import { GATEWAY_SETTINGS, LEASES } from '../../controller/kubernetes/resource-types.ts';
import type { StoredSettings } from '../../controller/kubernetes/stored-resources.ts';
import { leaseName } from '../../controller/leader/lease-name.ts';
import type { Lease } from '../../controller/leader/lease.ts';
import { parseLease } from '../../controller/leader/parse-lease.ts';
import { CommandFailure } from '../command-failure.ts';
import { withinRights } from '../explain/within-rights.ts';
import type { ClusterFlags } from '../flags/cluster-flags.ts';
import type { NamespaceChoice } from '../flags/cluster-flags.ts';
import { certificatesIn, type CertificateFacts } from './certificate-facts.ts';
import { readRouteFacts } from './read-routes.ts';
import type { RouteFacts } from './route-facts.ts';

/** What was found, or why it was not: it does not exist, or the caller may not read it. */
export type Found<Value> =
  | { readonly kind: 'found'; readonly value: Value }
  | { readonly kind: 'absent' | 'forbidden'; readonly why: string };

/** Returns what was found; undefined if it was not. */
export function valueOf<Value>(found: Found<Value>): Value | undefined {
  return found.kind === 'found' ? found.value : undefined;
}

/** The GatewaySettings, with what only the stored object says. */
export interface SettingsFacts extends StoredSettings {
  readonly certificates: readonly CertificateFacts[];
}

/** The Routes that the caller may read. */
export interface RoutesFound {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly routes: readonly RouteFacts[];
  /** Why not all namespaces were read, although that was wanted. */
  readonly note?: string;
}

/** What an API server says of a gateway. */
export interface GatewayFacts {
  readonly settings: Found<SettingsFacts>;
  readonly lease: Found<Lease>;
  readonly routes: Found<RoutesFound>;
}

/** The gateway to read, and the Routes. */
export interface GatewayToRead extends Pick<ClusterFlags, 'settings' | 'gatewayClass'> {
  readonly choice: NamespaceChoice;
  /** The namespace of the context, for callers who may not read all. */
  readonly usualNamespace: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Reads what is known of a gateway, as far as the caller's rights go. Rejects with a `CommandFailure` if the
 * API server cannot be used.
 */
export async function readGateway(
  api: Pick<KubernetesApi, 'get' | 'list'>,
  gateway: GatewayToRead,
): Promise<GatewayFacts> {
  const [settings, lease, routes] = await Promise.all([
    found(() => readSettings(api, gateway)),
    found(() => readLease(api, gateway)),
    found(() => readRoutes(api, gateway)),
  ]);
  return { settings, lease, routes };
}

async function readSettings(
  api: Pick<KubernetesApi, 'get'>,
  { settings: place, gatewayClass }: GatewayToRead,
): Promise<SettingsFacts> {
  const object = await getWithinRights(api, GATEWAY_SETTINGS, place);
  const settings = parseStoredSettings(object);
  if (isOfClass(settings.spec, gatewayClass)) {
    return { ...settings, certificates: certificatesIn(object) };
  }
  const name = `${place.namespace}/${place.name}`;
  throw new CommandFailure(`GatewaySettings ${name} are not of the class ${gatewayClass}`);
}

async function readLease(
  api: Pick<KubernetesApi, 'get'>,
  { settings: { namespace }, gatewayClass }: GatewayToRead,
): Promise<Lease> {
  const place = { namespace, name: leaseName(gatewayClass) };
  return parseLease(await getWithinRights(api, LEASES, place));
}

function getWithinRights(
  api: Pick<KubernetesApi, 'get'>,
  type: ResourceType,
  place: { readonly namespace: string; readonly name: string },
): Promise<KubernetesObject> {
  return withinRights({ verb: 'get', type, ...place }, () => api.get(type, place));
}

/** Reads all namespaces unless one is named. A caller who may not do that gets the namespace of the context. */
async function readRoutes(
  api: Pick<KubernetesApi, 'list'>,
  { choice, gatewayClass, usualNamespace, now }: GatewayToRead,
): Promise<RoutesFound> {
  const read = async (namespace: string | undefined): Promise<RoutesFound> => {
    return { namespace, routes: await readRouteFacts(api, { namespace, gatewayClass, now }) };
  };
  if (choice.kind === 'one') return read(choice.namespace);
  try {
    return await read(undefined);
  } catch (error) {
    if (choice.kind === 'all' || codeOf(error) !== FORBIDDEN) throw error;
    const note = `only Routes of the namespace ${usualNamespace}: ${messageOf(error)}`;
    return { ...(await read(usualNamespace)), note };
  }
}

async function found<Value>(read: () => Promise<Value>): Promise<Found<Value>> {
  try {
    return { kind: 'found', value: await read() };
  } catch (error) {
    const code = codeOf(error);
    if (code === FORBIDDEN) return { kind: 'forbidden', why: messageOf(error) };
    if (code === NOT_FOUND) return { kind: 'absent', why: messageOf(error) };
    throw error;
  }
}

function codeOf(error: unknown): number | undefined {
  const cause = error instanceof CommandFailure ? error.cause : undefined;
  return cause instanceof KubernetesApiError ? cause.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
