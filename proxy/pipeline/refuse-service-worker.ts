import type { Configuration } from '../configuration/configuration.ts';
import { showsConsent } from '../configuration/shows-consent.ts';
import { ForbiddenError } from '../errors/denial-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { MatchedHost } from './match-host.ts';

/**
 * Refuses the script of a service worker on hosts with consent pages. Attack: the worker of a web route could
 * answer for the consent page, or read it. Where no consent page is shown, web applications may have workers.
 *
 * @see {@link https://www.w3.org/TR/service-workers/#service-worker-script-request Service Workers}
 */
export function refuseServiceWorker(
  { message: { headers } }: Pick<GatewayRequest, 'message'>,
  host: MatchedHost,
  { settings }: Pick<Configuration, 'settings'>,
): void {
  if (headers['service-worker'] !== undefined && showsConsent(host, settings)) {
    throw new ForbiddenError('service-worker');
  }
}
