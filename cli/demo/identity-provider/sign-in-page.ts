import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { html, type Html } from '../../../proxy/http/html.ts';
import { page } from '../../../proxy/pages/layout.ts';
import { PEOPLE, type Person } from '../people.ts';

/** The form field for the account that signs in. */
export const ACCOUNT_FIELD = 'account';

/** Lists all accounts; one click signs in, without a password. */
export function signInPage(action: string): GatewayResponse {
  return page(200, {
    title: 'Who are you today?',
    content: html`<p>
        This is the development identity provider of the Gatehouse demo. Nobody here has a password.
      </p>
      <form method="post" action="${action}">${PEOPLE.map(choice)}</form>`,
    // Browsers apply this list also to the redirects after the form, which lead to the gateway and
    // perhaps to a client.
    form: { targets: ['http:', 'https:'] },
  });
}

/** Explains that the sign-in has expired or is finished. */
export function signInGonePage(): GatewayResponse {
  return page(400, {
    title: 'This sign-in is over',
    content: html`<p>It expired or was finished before. Start again where you came from.</p>`,
  });
}

function choice({ account, name, email, groups }: Person): Html {
  return html`<p>
    <button class="primary" name="${ACCOUNT_FIELD}" value="${account}">Sign in as ${name}</button>
    <br /><small>${email}, in ${groups.join(' and ')}</small>
  </p>`;
}
