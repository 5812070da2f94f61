import type { OAuthError } from '../errors/oauth-errors.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** The target of the response to an authorization request. Its redirect URI belongs to the client. */
export interface ResponseTarget {
  readonly issuer: Origin;
  readonly redirectUri: string;
  readonly state?: string;
}

/** Returns the redirect that sends a code to the client, with `iss` (RFC 9207, section 2). */
export function codeRedirect(target: ResponseTarget, code: string): string {
  return redirect(target, { code });
}

/** Returns the redirect that sends an error to the client (RFC 6749, 4.1.2.1), with `iss` too. */
export function errorRedirect(target: ResponseTarget, error: OAuthError): string {
  return redirect(target, { error: error.code, error_description: error.description });
}

/** Keeps the query of the redirect URI unchanged (RFC 6749, section 3.1.2). */
function redirect(
  { redirectUri, state, issuer }: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams(parameters);
  if (state !== undefined) query.set('state', state);
  query.set('iss', issuer);
  return redirectUri + separatorFor(redirectUri) + query.toString();
}

function separatorFor(redirectUri: string): string {
  if (!redirectUri.includes('?')) return '?';
  return /[?&]$/.test(redirectUri) ? '' : '&';
}
