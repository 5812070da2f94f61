import { acceptedCredentials } from '../../proxy/authentication/accepted-credentials.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import type { DescribedRequest } from '../../proxy/explain/described-message.ts';
import { originOf } from '../../shared/snapshot/origin.ts';
import { routeKey } from '../../shared/snapshot/resource-key.ts';
import type { CompiledRoute, Snapshot } from '../../shared/snapshot/snapshot.ts';
import { CommandFailure } from '../command-failure.ts';
import { isMcp, URL_PARTS } from './check-description.ts';
import type { RequestDescription } from './request-description.ts';

/** What the requests are made for. */
export interface Destination {
  readonly snapshot: Snapshot;
  readonly configuration: Pick<Configuration, 'routes' | 'settings' | 'identityProviders'>;
}

const LOOPBACK = '127.0.0.1';

/** The credential of a request: a token, or that of a user who is given without one. */
export type DescribedCredential =
  { readonly kind: 'none' | 'given' } | { readonly kind: 'token'; readonly token: string };

/**
 * Makes the request of a description without problems, for the routes of a snapshot. Whatever the
 * description leaves out is as in a usual request to the route. Throws `CommandFailure` if the route
 * does not exist, or if the description does not fit it.
 */
export function describeRequest(
  described: RequestDescription,
  destination: Destination,
  credential: DescribedCredential,
): DescribedRequest {
  const { authority, target, route } = place(described, destination);
  if (isMcp(described) && route !== undefined && route.mcpServer === undefined) {
    throw new CommandFailure(
      `Route ${route.name} is not an MCP route, and the request has an MCP message`,
    );
  }
  const asksMcpServer = isMcp(described) || route?.mcpServer !== undefined;
  const method = described.method ?? (asksMcpServer ? 'POST' : 'GET');
  const body = asksMcpServer && method === 'POST' ? messageOf(described) : undefined;
  const usual = {
    ...(asksMcpServer && usualFields(method)),
    ...credentialFields(credential, route, destination),
  };
  return {
    method,
    target,
    fields: ['Host', authority, ...fieldList(described.headers ?? {}, usual)],
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
    clientAddress: described.clientAddress ?? LOOPBACK,
  };
}

interface Place {
  readonly authority: string;
  readonly target: string;
  readonly route: CompiledRoute | undefined;
}

function place(described: RequestDescription, { snapshot, configuration }: Destination): Place {
  const { url, route: name } = described;
  if (url === undefined) return placeAtRoute(described, routeOf(snapshot, name));
  const [, authority = '', rest = ''] = URL_PARTS.exec(url) ?? [];
  const target = rest === '' ? '/' : rest;
  const host = configuration.routes.findHost(authority.toLowerCase());
  const route = host?.matchPath(target.replace(/\?.*/, ''))?.compiled;
  return { authority, target, route };
}

function placeAtRoute({ path }: RequestDescription, route: CompiledRoute): Place {
  if (route.host.startsWith('*.')) {
    throw new CommandFailure(`Route ${route.name} serves ${route.host}: a URL must say which host`);
  }
  const { kind, value } = route.path;
  if (path === undefined && kind === 'regex') {
    throw new CommandFailure(`Route ${route.name} has a regular expression: a path must be given`);
  }
  const ownPath = value === '' ? '/' : value;
  return { authority: new URL(originOf(route)).host, target: path ?? ownPath, route };
}

/** Returns a route by its name; without one, the only one that there is. */
function routeOf({ resources }: Snapshot, name: string | undefined): CompiledRoute {
  const routes = [...resources.values()].flatMap(({ value }) =>
    value.kind === 'route' ? [value] : [],
  );
  const names = routes.map((route) => route.name).sort();
  const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
  if (name !== undefined) {
    const found = resources.get(routeKey(name))?.value;
    if (found?.kind === 'route') return found;
    throw new CommandFailure(`no Route ${name} serves; ${there}`);
  }
  const [only, ...others] = routes;
  if (only !== undefined && others.length === 0) return only;
  throw new CommandFailure(`a route or a URL must be given; ${there}`);
}

/** The fields that every MCP client sends. */
function usualFields(method: string): Readonly<Record<string, string>> {
  if (method !== 'POST') return { Accept: 'text/event-stream' };
  return { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
}

/** Some requests, such as a preflight, are judged by whether they have a credential. */
function credentialFields(
  credential: DescribedCredential,
  route: CompiledRoute | undefined,
  { configuration }: Destination,
): Readonly<Record<string, string>> {
  if (credential.kind === 'none') return {};
  if (credential.kind === 'token') return { Authorization: `Bearer ${credential.token}` };
  const accepted = route === undefined ? 'nothing' : acceptedCredentials(route, configuration).kind;
  switch (accepted) {
    case 'nothing':
      return {};
    case 'session-cookie':
      return { Cookie: 'session=given' };
    case 'external-token':
    case 'bearer-token':
      return { Authorization: 'Bearer given' };
  }
}

/** Returns the given fields, and the usual ones that are not among them, as one list. */
function fieldList(
  given: Readonly<Record<string, string>>,
  usual: Readonly<Record<string, string>>,
): readonly string[] {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const others = Object.entries(usual).filter(([name]) => !names.has(name.toLowerCase()));
  return [...others, ...Object.entries(given)].flat();
}

/** A request that calls no tool, where the description has no message. */
const USUAL_METHOD = 'tools/list';

function messageOf(described: RequestDescription): object {
  const { mcpMethod, tool, prompt, resource } = described;
  const message = { jsonrpc: '2.0', id: 1 };
  const name = tool ?? prompt;
  if (name !== undefined) {
    const method = tool === undefined ? 'prompts/get' : 'tools/call';
    return { ...message, method, params: { name, arguments: described.arguments ?? {} } };
  }
  if (resource !== undefined) {
    return { ...message, method: mcpMethod ?? 'resources/read', params: { uri: resource } };
  }
  return { ...message, method: mcpMethod ?? USUAL_METHOD };
}
