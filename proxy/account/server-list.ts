import { html, type Html } from '../http/html.ts';
import type { SignedInBrowser } from '../identity/sign-in/signed-in-browser.ts';
import { shortened } from '../pages/shortened.ts';
import { accountForm } from './account-form.ts';
import type { UserServer, UserServers } from './user-servers.ts';

/** Lists the MCP servers of a user, with buttons to connect and disconnect. */
export function serverList({ servers, more, others }: UserServers, browser: SignedInBrowser): Html {
  if (servers.length + others.length === 0) return html`<p>None.</p>`;
  return html`<ul class="items">
      ${servers.map((server) => serverItem(server, browser))}
      ${others.map(
        ({ id, routeName }) =>
          html`<li>
            <strong>${shortened(nameOf(routeName))}</strong>
            <p>An earlier connection, which is not used now: the server was removed or changed.</p>
            ${disconnectForm(id, browser)}
          </li>`,
      )}
    </ul>
    ${more > 0 ? html`<p>And ${more} more.</p>` : undefined}`;
}

const STATES: Readonly<Record<UserServer['state'], string>> = {
  'none-needed': 'No connection needed',
  connected: 'Connected',
  'not-connected': 'Needs connecting',
  'lacks-scopes': 'Connected, but the server asked for more permissions',
};

function serverItem({ server, state, connectionId }: UserServer, browser: SignedInBrowser): Html {
  const canConnect = state === 'not-connected' || state === 'lacks-scopes';
  const canDisconnect = state === 'connected' || state === 'lacks-scopes';
  return html`<li>
    <strong>${shortened(server.name)}</strong>
    <dl>
      <dt>URL</dt>
      <dd><code>${server.url}</code></dd>
      <dt>State</dt>
      <dd>${STATES[state]}</dd>
    </dl>
    ${
      canConnect
        ? accountForm(browser, 'Connect', { action: 'connect', server: server.url })
        : undefined
    }
    ${
      canDisconnect && connectionId !== undefined
        ? disconnectForm(connectionId, browser)
        : undefined
    }
  </li>`;
}

function disconnectForm(connection: string, browser: SignedInBrowser): Html {
  return accountForm(browser, 'Disconnect', { action: 'disconnect', connection });
}

/** The name of a Route, without its namespace. */
function nameOf(routeName: string): string {
  return routeName.slice(routeName.indexOf('/') + 1);
}
