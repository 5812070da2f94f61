import { PATHS } from '../endpoints/paths.ts';
import { tidyPath } from './resource-path.ts';

/**
 * The `WWW-Authenticate` value that tells a client where to get a token for the URL it used.
 *
 * A request without a token is told no error code (RFC 6750, section 3.1).
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9728#section-5.1 RFC 9728, section 5.1}
 */
export function challengeFor(origin: string, requestPath: string, tokenWasSent: boolean): string {
  // A path that could be read in two ways does not enter the header.
  const metadataUrl = origin + PATHS.protectedResource + (tidyPath(requestPath) ?? '');
  const error = tokenWasSent ? 'error="invalid_token", ' : '';
  return `Bearer ${error}resource_metadata="${metadataUrl}"`;
}
