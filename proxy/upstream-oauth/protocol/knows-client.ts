import type { UpstreamServer } from '../upstream-authorization.ts';
import { TokenRequestError } from './token-request-error.ts';
import { refreshTokens } from './token-requests.ts';

/** No server has issued it. */
const MADE_UP = 'made-up-by-gatehouse-to-check-its-registration';

/**
 * Returns whether an authorization server still knows the gateway, as far as it says. It is asked to redeem a
 * refresh token that nobody issued: to a client that it does not know it answers `invalid_client` (RFC 6749,
 * section 5.2), and to others something else.
 */
export async function knowsClient(server: UpstreamServer): Promise<boolean> {
  const [outcome] = await Promise.allSettled([refreshTokens(server, MADE_UP, undefined)]);
  if (outcome.status === 'fulfilled') return true;
  const error: unknown = outcome.reason;
  return !(error instanceof TokenRequestError) || error.code !== 'invalid_client';
}
