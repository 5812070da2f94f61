import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { html } from '../../../proxy/http/html.ts';
import { page } from '../../../proxy/pages/layout.ts';
import { PEOPLE } from '../people.ts';

/** The form field for the account that is chosen. */
export const OWNER_FIELD = 'account';

/** Lists the accounts; one click lets the gateway use one of them. */
export function ownerPage(action: string): GatewayResponse {
  return page(200, {
    title: 'Which notes may Gatehouse use?',
    content: html`<p>
        This is the authorization server of the sample notes. It has accounts of its own, without
        passwords.
      </p>
      <form method="post" action="${action}">
        ${PEOPLE.map(
          ({ account, name }) =>
            html`<p>
              <button class="primary" name="${OWNER_FIELD}" value="${account}">
                The notes of ${name}
              </button>
            </p>`,
        )}
      </form>`,
    // Browsers apply this list also to the redirects after the form, which lead to the gateway.
    form: { targets: ['http:', 'https:'] },
  });
}

/** Explains that the request has expired or is finished. */
export function ownerGonePage(): GatewayResponse {
  return page(400, {
    title: 'This request is over',
    content: html`<p>It expired or was finished before. Start again where you came from.</p>`,
  });
}
