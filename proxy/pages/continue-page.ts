import type { GatewayResponse } from '../http/gateway-response.ts';
import { html } from '../http/html.ts';
import { page } from './layout.ts';

/**
 * Sends the browser on from a page of this host, instead of redirecting it.
 *
 * A redirect continues the navigation that another site began, and browsers do not send a `SameSite=Strict`
 * cookie with it: the user would be asked to sign in for ever.
 */
export function continuePage(title: string, url: string): GatewayResponse {
  const content = html`<p><a class="button" href="${url}">Continue</a></p>`;
  return page(200, { title, content }, { refresh: `0; url=${url}` });
}
