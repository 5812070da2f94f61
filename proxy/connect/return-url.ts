import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import type { RoutingTable } from '../configuration/routing-table.ts';
import type { ConnectError } from '../errors/connection-errors.ts';

const MAX_LENGTH = 1500;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/**
 * Returns the URL to which an application has its users return: with the host and port of an MCP client
 * route. Null if it is of any other site (specification: `redirect_url`). Attack: open redirector.
 */
export function readReturnUrl(
  text: string,
  {
    routes,
    devAllowLoopback,
  }: { readonly routes: RoutingTable; readonly devAllowLoopback: boolean },
): string | null {
  // Browsers read a backslash as a slash, and drop line breaks and tabs.
  if (text.length > MAX_LENGTH || !/^[\x21-\x5b\x5d-\x7e]+$/.test(text)) return null;
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '') return null;
  const { protocol, hostname, port } = url;
  const isAllowedHttp = protocol === 'http:' && devAllowLoopback && isLoopbackHost(hostname);
  if (protocol !== 'https:' && !isAllowedHttp) return null;
  const host = routes.findHost(`${hostname}:${port || (DEFAULT_PORTS[protocol] ?? '')}`);
  if (host === undefined || `${host.scheme}:` !== protocol) return null;
  return host.routes.some(({ compiled }) => compiled.mcpClient === true) ? url.href : null;
}

/** Returns a URL with `connect_error` at the end of its query. */
export function withConnectError(href: string, error: ConnectError): string {
  const url = new URL(href);
  url.search += `${url.search === '' ? '' : '&'}connect_error=${error}`;
  return url.href;
}
