import type { ConnectError } from '../errors/connection-errors.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { html } from '../http/html.ts';
import { page } from '../pages/layout.ts';
import { requestIdNote } from '../pages/request-id-note.ts';
import type { FailedConnection } from './connection-result.ts';

/** Says that the user is connected. */
export function connectedPage(): GatewayResponse {
  const content = html`<p>
    The gateway can now use this MCP server for you. You can close this page, and go back to your
    application.
  </p>`;
  return page(200, { title: 'You are connected', content });
}

/** What a page says about a `connect_error`. */
export const CONNECT_ADVICE: Readonly<Record<ConnectError, string>> = {
  access_denied: 'You or the server’s provider said no, so nothing was connected.',
  temporarily_unavailable: 'The server’s provider does not answer at the moment. Try again later.',
  server_error: 'The server’s provider answered with an error, or not as it should. Try again.',
  not_permitted: 'You may not use this MCP server, so nothing was connected.',
  configuration_error:
    'The gateway cannot connect this server as it is set up. Only your administrator can change that.',
  route_changed: 'The server was set up anew while you connected. Try again.',
};

/** Says why the user is not connected. */
export function connectionFailedPage(
  { connectError, forAdministrator }: FailedConnection,
  requestId: string,
): GatewayResponse {
  const content = html`
    <p>${CONNECT_ADVICE[connectError]}</p>
    ${forAdministrator && html`<p>For your administrator: ${forAdministrator}.</p>`}
    <p>You can close this page, and go back to your application.</p>
    ${requestIdNote(requestId)}
  `;
  return page(200, { title: 'Connecting did not work', content });
}
