import type { OutgoingHttpHeaders } from 'node:http';

import { PATHS } from '../../endpoints/paths.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { html, type Html } from '../../http/html.ts';
import { page } from '../../pages/layout.ts';
import { userName } from '../../pages/user-name.ts';
import type { Identity } from '../../records/session.ts';
import { signOutForm } from './sign-out-form.ts';
import type { SignedInBrowser } from './signed-in-browser.ts';

const SIGN_IN_LINK = html`<p><a class="button" href="${PATHS.signIn}">Sign in</a></p>`;

/** The sessions of one browser; those of different identity providers are of different users. */
type BrowserSessions = readonly [SignedInBrowser, ...(readonly SignedInBrowser[])];

const SIGN_IN_ELSEWHERE = html`<p>
  There is no sign-in here. Open the page that you want to use: it knows where you sign in.
</p>`;

/** Lets a user sign in, if somebody can at the start page. */
export function notSignedInPage(hasSignIn: boolean): GatewayResponse {
  const content = html`<p>You are not signed in to this gateway.</p>
    ${hasSignIn ? SIGN_IN_LINK : SIGN_IN_ELSEWHERE}`;
  return page(200, { title: 'You are not signed in', content });
}

/** Asks whether to sign out. */
export function signOutPage(browsers: BrowserSessions): GatewayResponse {
  const content = html`
    ${browsers.map(({ session }) => signedInAs(session.identity, browsers.length > 1))}
    <p>
      Signing out ends your browser sessions on all hosts of this gateway. Applications that you
      connected stay connected.
    </p>
    ${signOutForm(browsers[0])}
  `;
  return page(200, { title: 'Sign out?', content, form: {} });
}

/** Says who is signed in, with the identity provider if it is one of several users. */
export function signedInAs(identity: Identity, isOneOfSeveral: boolean): Html {
  const provider = isOneOfSeveral ? ` (${identity.provider})` : '';
  return html`<p>You are signed in as <strong>${userName(identity)}</strong>${provider}.</p>`;
}

/** Shows that this browser is signed out; `hasSignIn` as for `notSignedInPage`. */
export function signedOutPage(headers: OutgoingHttpHeaders, hasSignIn: boolean): GatewayResponse {
  const content = html`
    <p>You are signed out of this gateway. You may still be signed in at your identity provider.</p>
    ${hasSignIn ? SIGN_IN_LINK : ''}
  `;
  return page(200, { title: 'Signed out', content }, headers);
}
