import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { html, type Html } from '../../../proxy/http/html.ts';
import { page } from '../../../proxy/pages/layout.ts';
import { PEOPLE, type Person } from '../people.ts';

/** The form field that says who signs in. */
export const ACCOUNT_FIELD = 'account';

/** Lists everybody; one click signs in. There are no passwords in a demo. */
export function signInPage(action: string): GatewayResponse {
  return page(200, {
    title: 'Who are you today?',
    content: html`<p>
        This is the development identity provider of the Gatehouse demo. Nobody here has a password.
      </p>
      <form method="post" action="${action}">${PEOPLE.map(choice)}</form>`,
    // A browser holds the redirects that follow the form to this list too, and they lead to the
    // gateway, and from there perhaps to a client.
    form: { targets: ['http:', 'https:'] },
  });
}

/** Says that there is no sign-in under way to go on with. */
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
