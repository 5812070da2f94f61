/**
 * Returns whether a server refuses a user with this code (RFC 6749, section 5.2), or demands that the user signs in
 * or authorizes the gateway again (OpenID Connect Core, section 3.1.2.6). All others concern the gateway, or are
 * temporary.
 */
export function refusesUser(code: string): boolean {
  return REFUSALS.has(code);
}

const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'access_denied',
  'interaction_required',
  'login_required',
  'consent_required',
  'account_selection_required',
]);
