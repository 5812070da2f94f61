import { CONNECT_ADVICE } from '../connect/pages.ts';
import type { ConnectError } from '../errors/connection-errors.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { html, type Html } from '../http/html.ts';
import { signedInAs } from '../identity/sign-in/pages.ts';
import { signOutForm } from '../identity/sign-in/sign-out-form.ts';
import type { SignedInBrowser } from '../identity/sign-in/signed-in-browser.ts';
import { page } from '../pages/layout.ts';
import { accountForm } from './account-form.ts';
import type { ApprovedClient } from './approved-clients.ts';
import { clientList } from './client-list.ts';
import { serverList } from './server-list.ts';
import type { UserServers } from './user-servers.ts';

/** A user of a browser, and what they have. */
export interface Account {
  readonly browser: SignedInBrowser;
  readonly clients: readonly ApprovedClient[];
  readonly servers: UserServers;
}

/** Where connecting leads: to servers, their providers and back. Browsers apply it to every redirect. */
const CONNECT_TARGETS = [
  'https:',
  'http://localhost:*',
  'http://127.0.0.1:*',
  'http://*.localhost:*',
];

/** Shows the users of a browser: one for each identity provider at which it is signed in. */
export function accountPage(
  accounts: readonly [Account, ...(readonly Account[])],
  connectError: ConnectError | undefined,
): GatewayResponse {
  const [{ browser }, ...others] = accounts;
  const sections = accounts.map((account) => accountSection(account, others.length > 0));
  const content = html`
    ${connectError && html`<p class="warning" role="alert">${CONNECT_ADVICE[connectError]}</p>`}
    ${sections}
    <h2>Sign out</h2>
    <p>
      Signing out ends your browser sessions on all hosts of this gateway. Signing out everywhere
      also ends those of all other browsers, and revokes every application above. Neither ends
      connections to MCP servers.
    </p>
    ${signOutForm(browser)}
    ${accountForm(browser, 'Sign out everywhere', { action: 'sign-out-everywhere' })}
  `;
  return page(200, { title: 'Your account', content, form: { targets: CONNECT_TARGETS } });
}

function accountSection({ browser, clients, servers }: Account, isOneOfSeveral: boolean): Html {
  return html`
    ${signedInAs(browser.session.identity, isOneOfSeveral)}
    <h2>MCP servers</h2>
    ${serverList(servers, browser)}
    <h2>Applications that you approved</h2>
    ${clientList(clients, browser)}
  `;
}
