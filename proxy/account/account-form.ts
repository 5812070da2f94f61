import { derivedToken, equalSecrets } from '../crypto/tokens.ts';
import { PATHS } from '../endpoints/paths.ts';
import { html, type Html } from '../http/html.ts';
import type { SignedInBrowser } from '../identity/sign-in/signed-in-browser.ts';

const FIELD = 'token';

/** Returns a form of one button, which posts these fields for this user. */
export function accountForm(
  browser: SignedInBrowser,
  label: string,
  fields: { readonly action: string } & Readonly<Record<string, string>>,
): Html {
  const all = Object.entries({ ...fields, [FIELD]: tokenFor(browser) });
  return html`<form method="post" action="${PATHS.account}">
    ${all.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button>${label}</button>
  </form>`;
}

/**
 * Returns the session for which a posted form was made; undefined if it is none of this browser's.
 *
 * Attack: cross-site request forgery. Other sites cannot read the token.
 */
export function browserOfForm(
  form: URLSearchParams,
  browsers: readonly SignedInBrowser[],
): SignedInBrowser | undefined {
  const token = form.get(FIELD) ?? '';
  return browsers.find((browser) => equalSecrets(token, tokenFor(browser)));
}

function tokenFor({ cookie }: SignedInBrowser): string {
  return derivedToken(cookie, 'account');
}
