import { derivedToken, equalSecrets } from '../../crypto/tokens.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { html, type Html } from '../../http/html.ts';
import type { SignedInBrowser } from './signed-in-browser.ts';

const FIELD = 'token';

/** Returns the form that signs a browser out. */
export function signOutForm(browser: SignedInBrowser): Html {
  return html`<form method="post" action="${PATHS.signOut}">
    <input type="hidden" name="${FIELD}" value="${tokenFor(browser)}" />
    <button class="primary">Sign out</button>
  </form>`;
}

/**
 * Returns whether a posted form is the one that was made for this browser, with any of its sessions.
 *
 * Attack: cross-site request forgery. Other sites cannot read the token.
 */
export function isSignOutForm(
  form: URLSearchParams,
  browsers: readonly SignedInBrowser[],
): boolean {
  const token = form.get(FIELD) ?? '';
  return browsers.some((browser) => equalSecrets(token, tokenFor(browser)));
}

function tokenFor({ cookie }: SignedInBrowser): string {
  return derivedToken(cookie, 'sign-out');
}
