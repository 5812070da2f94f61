import type { OutgoingHttpHeaders } from 'node:http';

import type { GatewayResponse } from '../../http/gateway-response.ts';
import { html } from '../../http/html.ts';
import { page } from '../../pages/layout.ts';
import { userName } from '../../pages/user-name.ts';
import { PATHS } from '../../endpoints/paths.ts';
import type { Identity } from '../../records/session.ts';

/** Asks whether to sign out; its form carries what proves that it is ours. */
export function signOutPage(identity: Identity, formToken: string): GatewayResponse {
  const content = html`
    <p>You are signed in as <strong>${userName(identity)}</strong>.</p>
    <p>
      Signing out ends your browser sessions on all hosts of this gateway. Applications that you
      connected stay connected.
    </p>
    <form method="post" action="${PATHS.signOut}">
      <input type="hidden" name="token" value="${formToken}" />
      <button class="primary">Sign out</button>
    </form>
  `;
  return page(200, { title: 'Sign out?', content, form: {} });
}

/** Tells that this browser is signed out. */
export function signedOutPage(headers: OutgoingHttpHeaders): GatewayResponse {
  const content = html`
    <p>You are signed out of this gateway. You may still be signed in at your identity provider.</p>
    <p><a class="button" href="${PATHS.signIn}">Sign in</a></p>
  `;
  return page(200, { title: 'Signed out', content }, headers);
}

/**
 * Sends the browser on from a page of this host, instead of redirecting it.
 *
 * A redirect belongs to the navigation that the identity provider's site began, and browsers send
 * no `SameSite=Strict` cookie with that: the user would be asked to sign in for ever.
 */
export function continuePage(url: string): GatewayResponse {
  const content = html`<p><a class="button" href="${url}">Continue</a></p>`;
  return page(200, { title: 'You are signed in', content }, { refresh: `0; url=${url}` });
}
