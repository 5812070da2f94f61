import { PATHS } from '../endpoints/paths.ts';
import { tidyPath } from './resource-path.ts';

/**
 * Returns the `WWW-Authenticate` value by which a client finds out where to get a token.
 *
 * The challenge of a request without a token has no error code (RFC 6750, section 3.1).
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9728#section-5.1 RFC 9728, section 5.1}
 */
export function challengeFor(origin: string, requestPath: string, tokenWasSent: boolean): string {
  // A path that can be read in two ways is left out of the header.
  const metadataUrl = origin + PATHS.protectedResource + (tidyPath(requestPath) ?? '');
  const error = tokenWasSent ? 'error="invalid_token", ' : '';
  return `Bearer ${error}resource_metadata="${metadataUrl}"`;
}
