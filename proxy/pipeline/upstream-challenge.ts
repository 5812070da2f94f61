import type { Logger } from '../../shared/telemetry/logger.ts';
import type { UpstreamResponse } from '../forwarding/response/response-plan.ts';
import { rawHeaderValues } from '../mcp/raw-header.ts';
import type { Permit } from './permit.ts';

/** Lower-case name of the field with the challenges of a server (RFC 9110, section 11.6.1). */
export const WWW_AUTHENTICATE = 'www-authenticate';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** A challenge of the Bearer scheme, or one that names metadata (RFC 9728, section 5.1). */
const LEADS_ELSEWHERE = /(?:^|[\t ,])bearer(?:[\t ,]|$)|resource_metadata/i;

/**
 * Returns whether the client of an MCP route must not get the challenge of its upstream, because it would
 * get a token of another authorization server, and send it here. On a route without upstream OAuth that is
 * logged: the upstream refuses a request for which the gateway has no token.
 */
export function hidesChallenge(
  { request, route: { compiled } }: Permit,
  { status, rawHeaders }: Pick<UpstreamResponse, 'status' | 'rawHeaders'>,
  logger: Pick<Logger, 'warn'>,
): boolean {
  if (compiled.mcpServer?.upstreamOAuth !== undefined) return true;
  if (status !== UNAUTHORIZED && status !== FORBIDDEN) return false;
  const challenges = rawHeaderValues(rawHeaders, WWW_AUTHENTICATE);
  if (!challenges.some((challenge) => LEADS_ELSEWHERE.test(challenge))) return false;
  const fields = { 'request-id': request.id, route: compiled.name, status };
  logger.warn('upstream challenge removed', fields);
  return true;
}
