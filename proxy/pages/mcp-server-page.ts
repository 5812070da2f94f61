import type { GatewayResponse } from '../http/gateway-response.ts';
import { html } from '../http/html.ts';
import { page } from './layout.ts';

const PEOPLE = 'The application will then open a page at which you sign in and approve it.';
const MACHINES =
  'Nobody signs in for this server: the application must have a token of an identity provider.';

/**
 * Returns the page for a person who opened the URL of an MCP server in a browser. Everybody may see it, so
 * it says nothing about the server but the URL, and whether users sign in for it.
 */
export function mcpServerPage(url: string, signsUsersIn: boolean): GatewayResponse {
  const settings = { mcpServers: { 'my-server': { type: 'http', url } } };
  const content = html`
    <p>
      This address is for AI applications, not for browsers. To connect an application (an MCP
      client), give it this URL:
    </p>
    <p><code class="copy">${url}</code></p>
    <p>${signsUsersIn ? PEOPLE : MACHINES}</p>
    <p>Many applications have a file for their MCP servers, such as <code>mcp.json</code>:</p>
    <pre class="copy">${JSON.stringify(settings, null, 2)}</pre>
  `;
  return page(200, { title: 'This is the address of an MCP server', content });
}
