import type { Configuration } from '../configuration/configuration.ts';
import { keepsScriptsOut } from '../configuration/keeps-scripts-out.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { MatchedHost } from './match-host.ts';

/** Takes the place of the worker that was there, handles no requests, and leaves. */
const LEAVING_WORKER = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.registration.unregister()));
`;

const LEAVE: GatewayResponse = {
  status: 200,
  headers: {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Without it browsers keep a worker for more than the folder of its script.
    'service-worker-allowed': '/',
  },
  body: LEAVING_WORKER,
};

/**
 * Returns the answer to a request for the script of a service worker on hosts that keep scripts out: a worker that
 * removes itself; undefined for all other requests.
 *
 * Attack: the worker of a web route could answer for the consent page, or read it. Or the attacker begins a
 * connection and has a user continue it, the worker takes the code before the gateway sees it, and the attacker ends
 * the connection with it: to the account of that user.
 *
 * A refusal would not end a worker that is older than the MCP route: browsers ask for its script after each
 * navigation, but keep it if they get an error.
 *
 * @see {@link https://www.w3.org/TR/service-workers/#update-algorithm Service Workers}
 */
export function replaceServiceWorker(
  { message: { headers } }: Pick<GatewayRequest, 'message'>,
  host: MatchedHost,
  { settings }: Pick<Configuration, 'settings'>,
): GatewayResponse | undefined {
  const isReplaced = headers['service-worker'] !== undefined && keepsScriptsOut(host, settings);
  return isReplaced ? LEAVE : undefined;
}
