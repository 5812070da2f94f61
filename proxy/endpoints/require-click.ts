import { ForbiddenError } from '../errors/denial-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

const FETCH_METADATA = [
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
] as const;

/**
 * Refuses to show a page with a form to anything but the window of a browser: not to a script, a frame, or
 * a page that is loaded in advance. Attack: a script of a web route on the same host reads the form.
 *
 * Browsers that do not send these fields (before 2021; Safari before 2023) are let through.
 *
 * @see {@link https://www.w3.org/TR/fetch-metadata/ Fetch Metadata Request Headers}
 */
export function requireWindow({ message: { headers } }: Pick<GatewayRequest, 'message'>): void {
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': dest = 'document' } = headers;
  // Attack: a page that waits unseen since it was loaded is older than the user's look at it.
  const isEarly = headers['sec-purpose'] !== undefined;
  // Attack: the browser loads the page for a service worker, which reads the form.
  const isForWorker = headers['service-worker-navigation-preload'] !== undefined;
  if (mode !== 'navigate' || dest !== 'document' || isEarly || isForWorker) {
    throw new ForbiddenError('not-a-navigation');
  }
}

/**
 * Refuses a posted form unless the user of a page of the same origin submitted it. Attack: cross-site
 * request forgery, and scripts of a web route on the same host.
 *
 * No script can set these fields. Browsers that do not send them are held to `Origin`, if they send that.
 */
export function requireClick(request: Pick<GatewayRequest, 'message'>, origin: Origin): void {
  const { headers } = request.message;
  if ((headers.origin ?? origin) !== origin) throw new ForbiddenError('cross-site-form');
  requireWindow(request);
  if (FETCH_METADATA.every((name) => headers[name] === undefined)) return;
  if (headers['sec-fetch-site'] !== 'same-origin') throw new ForbiddenError('cross-site-form');
  if (headers['sec-fetch-mode'] === undefined || headers['sec-fetch-dest'] === undefined) {
    throw new ForbiddenError('not-a-navigation');
  }
  const user = headers['sec-fetch-user'];
  if (user === undefined && isWebKit(headers['user-agent'])) return;
  if (user !== '?1') throw new ForbiddenError('no-click');
}

/**
 * Returns whether a browser is built on WebKit, such as Safari: it sends no `Sec-Fetch-User`. Scripts
 * cannot change the `User-Agent` of a navigation.
 */
function isWebKit(userAgent = ''): boolean {
  return userAgent.includes('AppleWebKit/') && !userAgent.includes('Chrome/');
}
