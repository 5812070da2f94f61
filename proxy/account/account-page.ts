import type { GatewayResponse } from '../http/gateway-response.ts';
import { html, type Html } from '../http/html.ts';
import { signedInAs } from '../identity/sign-in/pages.ts';
import { signOutForm } from '../identity/sign-in/sign-out-form.ts';
import type { SignedInBrowser } from '../identity/sign-in/signed-in-browser.ts';
import { page } from '../pages/layout.ts';
import { accountForm } from './account-form.ts';
import type { ApprovedClient } from './approved-clients.ts';
import { clientList } from './client-list.ts';

/** A user of a browser, and what they have. */
export interface Account {
  readonly browser: SignedInBrowser;
  readonly clients: readonly ApprovedClient[];
}

/** Shows the users of a browser: one for each identity provider at which it is signed in. */
export function accountPage(
  accounts: readonly [Account, ...(readonly Account[])],
): GatewayResponse {
  const [{ browser }, ...others] = accounts;
  const sections = accounts.map((account) => accountSection(account, others.length > 0));
  const content = html`
    ${sections}
    <h2>Sign out</h2>
    <p>
      Signing out ends your browser sessions on all hosts of this gateway. Signing out everywhere
      also ends those of all other browsers, and disconnects every application above.
    </p>
    ${signOutForm(browser)}
    ${accountForm(browser, 'Sign out everywhere', { action: 'sign-out-everywhere' })}
  `;
  return page(200, { title: 'Your account', content, form: {} });
}

function accountSection({ browser, clients }: Account, isOneOfSeveral: boolean): Html {
  return html`
    ${signedInAs(browser.session.identity, isOneOfSeveral)}
    <h2>Applications that you approved</h2>
    ${clientList(clients, browser)}
  `;
}
