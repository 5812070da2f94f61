import { resourceIdentifier } from '../../proxy/configuration/resource-identifier.ts';
import { ANY_ADDRESS } from '../../proxy/outbound/guarded-fetch.ts';
import type { UpstreamCallContext } from '../../proxy/upstream-oauth/calls/upstream-calls.ts';
import {
  callContextOf,
  upstreamOf,
  type Upstream,
} from '../../proxy/upstream-oauth/discovery/upstream.ts';
import { originOf, type Origin } from '../../shared/snapshot/origin.ts';
import type {
  CompiledResource,
  CompiledRoute,
  CompiledSettings,
  Snapshot,
} from '../../shared/snapshot/snapshot.ts';
import { CommandFailure } from '../command-failure.ts';

/** What `gatehouse doctor` examines. */
export interface Patient {
  /**
   * The upstream of a Route with upstream OAuth; an MCP route of this gateway, as MCP clients see it; or an
   * upstream that no Route has yet.
   */
  readonly kind: 'upstream-of-route' | 'own-route' | 'upstream';
  readonly upstream: Upstream;
  /** Which hosts may be asked. */
  readonly context: UpstreamCallContext;
  /** Origin of the route host, where the gateway's callback is. Absent if no Route is known. */
  readonly origin?: Origin;
}

/** Returns the Route of a name. Throws `CommandFailure` if there is none, or it is no MCP server. */
export function patientOfRoute(name: string, snapshot: Snapshot): Patient {
  const route = routesOf(snapshot).find((candidate) => candidate.name === name);
  if (route === undefined) throw new CommandFailure(`there is no Route ${name}`);
  if (route.mcpServer === undefined) throw new CommandFailure(`Route ${name} is no MCP server`);
  if (route.mcpServer.upstreamOAuth === undefined) {
    if (!route.host.startsWith('*')) return ownRoute(route, resourceIdentifier(route));
    throw new CommandFailure(`give a URL: Route ${name} has a wildcard host`);
  }
  const upstream = upstreamOf(route);
  const context = callContextOf(upstream, { settings: settingsOf(snapshot) }, undefined);
  return { kind: 'upstream-of-route', upstream, context, origin: originOf(route) };
}

/**
 * Returns what is at a URL: an MCP route, if one of the snapshot has this origin, or else an upstream, which the
 * settings of the snapshot must allow. Without a snapshot nothing is allowed.
 */
export function patientAt(url: string, snapshot: Snapshot | undefined): Patient {
  const { origin } = new URL(url);
  const routes = snapshot === undefined ? [] : routesOf(snapshot);
  const own = routes.find((route) => originOf(route) === origin && route.mcpServer !== undefined);
  if (own !== undefined) return ownRoute(own, url);
  const upstream = { route: url, url, oauth: NOTHING_GIVEN };
  const context: UpstreamCallContext =
    snapshot === undefined
      ? { route: url, allowedCidrs: [], allowedDomains: [] }
      : callContextOf(upstream, { settings: settingsOf(snapshot) }, undefined);
  return { kind: 'upstream', upstream, context };
}

/** MCP clients may ask every host, and have no list of domains. */
function ownRoute({ name }: CompiledRoute, url: string): Patient {
  const upstream = { route: name, url, oauth: NOTHING_GIVEN };
  return { kind: 'own-route', upstream, context: { route: name, allowedCidrs: ANY_ADDRESS } };
}

const NOTHING_GIVEN = { routeId: '', authorizationParams: {}, sendsResource: true };

function routesOf(snapshot: Snapshot): readonly CompiledRoute[] {
  return valuesOf(snapshot).filter((value) => value.kind === 'route');
}

function settingsOf(snapshot: Snapshot): CompiledSettings {
  const settings = valuesOf(snapshot).find((value) => value.kind === 'settings');
  if (settings === undefined) throw new CommandFailure('there are no settings');
  return settings;
}

function valuesOf({ resources }: Snapshot): readonly CompiledResource[] {
  return [...resources.values()].map(({ value }) => value);
}
