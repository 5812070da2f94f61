import type { GatewayRoute } from '../configuration/routing-table.ts';
import { isPreflight } from '../http/cors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import { hasBody } from '../http/has-body.ts';
import { rawHeaderValues } from '../mcp/raw-header.ts';

/** Fields by which some frameworks read another method than that of the request. */
const OTHER_METHODS = ['x-http-method-override', 'x-http-method', 'x-method-override'];

/**
 * Returns whether a request is a preflight as browsers send it, without credentials and a body (Fetch,
 * section 4.8), on a route whose policy reads preflights.
 *
 * Attack: with a body, or a field that names another method, it could be anything to the upstream. With
 * credentials, a user whom the policy does not allow would reach the upstream as this user.
 */
export function isAnonymousPreflight(
  { method, message }: GatewayRequest,
  { policy }: GatewayRoute,
): boolean {
  if (policy?.reads.has('preflight') !== true) return false;
  const { headers, rawHeaders } = message;
  return (
    isPreflight(method, headers) &&
    headers.cookie === undefined &&
    headers.authorization === undefined &&
    !hasBody(message) &&
    OTHER_METHODS.every((name) => rawHeaderValues(rawHeaders, name).length === 0)
  );
}
