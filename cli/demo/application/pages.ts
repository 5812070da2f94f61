import type { GatewayResponse } from '../../../proxy/http/gateway-response.ts';
import { html, type Html } from '../../../proxy/http/html.ts';
import { page } from '../../../proxy/pages/layout.ts';
import type { Visit } from './call-server.ts';
import type { AvailableServer } from './gateway-api.ts';

/** The form field for the URL of a server. */
export const SERVER_FIELD = 'server';

/** What the list of servers shows. */
export interface Overview {
  readonly userName: string;
  readonly servers: readonly AvailableServer[];
  /** Where users return to after they have connected. */
  readonly returnUrl: string;
  /** Why the last try to connect failed; null if it did not. */
  readonly connectError: string | null;
}

/** Browsers apply this list also to the redirects after a form, which lead to other servers. */
const ANYWHERE = { targets: ['http:', 'https:'] };

/** Lists the MCP servers of the user. */
export function overviewPage(overview: Overview): GatewayResponse {
  const { userName, servers, connectError } = overview;
  return page(200, {
    title: 'The sample application',
    content: html`<p>
        Hello, ${userName}. This application got a token of yours from the gateway, and with it the
        list of MCP servers that you may use.
      </p>
      ${connectError === null ? undefined : html`<p class="warning">Not connected: ${connectError}.</p>`}
      ${servers.map((server) => serverPart(server, overview))}
      <p>
        Your own page at the gateway: <a href="/.gateway/">what you connected and approved</a>, and
        where you <a href="/.gateway/sign_out">sign out</a>.
      </p>
      <footer>
        A server that wants a token of its own is called with that one. It never sees the token of
        the gateway.
      </footer>`,
    form: ANYWHERE,
  });
}

function serverPart(server: AvailableServer, { returnUrl }: Overview): Html {
  const { name, url, connected, connectUrl } = server;
  const state = connected ? 'connected' : 'not connected';
  const isConnectable = connectUrl !== undefined && !connected;
  return html`<section>
    <h2>${name}</h2>
    <p><code>${url}</code>: ${state}</p>
    ${connected ? postButton('/call', url, 'Call a tool', true) : undefined}
    ${isConnectable ? connectButton(connectUrl, returnUrl) : undefined}
    ${
      connected && connectUrl !== undefined
        ? postButton('/disconnect', url, 'Disconnect', false)
        : undefined
    }
  </section>`;
}

function connectButton(connectUrl: string, returnUrl: string): Html {
  const { origin, pathname, searchParams } = new URL(connectUrl);
  searchParams.set('redirect_url', returnUrl);
  return html`<form method="get" action="${origin + pathname}">
    ${[...searchParams].map(([name, value]) => hidden(name, value))}
    <button class="primary">Connect</button>
  </form>`;
}

function postButton(action: string, url: string, label: string, isPrimary: boolean): Html {
  return html`<form method="post" action="${action}">
    ${hidden(SERVER_FIELD, url)}
    <button class="${isPrimary ? 'primary' : 'plain'}">${label}</button>
  </form>`;
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** Shows what a server returned. */
export function visitPage(url: string, { tools, called, result }: Visit): GatewayResponse {
  return page(200, {
    title: `${called} returned this`,
    content: html`<pre>${result}</pre>
      <p>
        The backend called <code>${called}</code> at <code>${url}</code> without a cookie, with your
        token alone, as a service in another network would. All tools there: ${tools.join(', ')}.
      </p>
      <p><a class="button" href="/">Back</a></p>`,
  });
}

/** Says that a request failed, without details: they are on the terminal of the demo. */
export function failurePage(status: number, message: string): GatewayResponse {
  return page(status, {
    title: 'That did not work',
    content: html`<p>${message}</p>
      <p><a class="button" href="/">Back</a></p>`,
  });
}
