import { styleText } from 'node:util';

import { DEFAULT_SERVER_URL } from './client/client-flags.ts';
import type { GatewayOrigins } from './gateway-origins.ts';
import { PEOPLE } from './people.ts';

/** What the guide shows. */
export interface GuideFacts extends Pick<GatewayOrigins, 'gateway' | 'application'> {
  readonly manifestPath: string;
  /** Whether npm can run the demo client, which the image does not have. */
  readonly isCheckout: boolean;
}

/** Returns the next steps for a user of the demo, as text for the terminal. */
export function guide(facts: GuideFacts): string {
  const { gateway, application, manifestPath, isCheckout } = facts;
  const people = PEOPLE.map(({ name, groups }) => `${name} (${groups.join(', ')})`).join(', ');
  return `
  ${bold('Gatehouse is running, with two MCP servers and an application behind it.')}
${isCheckout ? clientStep(gateway) : ''}
  ${isCheckout ? 'Or paste' : 'Paste'} this URL into an MCP client of your own:
      ${bold(gateway)}

  Or open the sample application in a browser, which uses MCP servers for you:
      ${bold(application)}
      It lists the servers. The notes want an account: press Connect, choose one, and call a tool.

  Sign in as ${people}.
  Everybody may call the tools; only admins may call ${bold('delete_invoice')}.
  The policy is in ${bold(`${manifestPath}/route.yaml`)}${isCheckout ? ': edit it, and the change takes effect at once.' : '.'}

  ${dim('Decisions of the gateway show up below. Ctrl-C stops everything.')}

`;
}

function clientStep(gateway: string): string {
  const isWhereClientLooks = gateway === DEFAULT_SERVER_URL;
  const client = `npm run demo:client${isWhereClientLooks ? '' : ` -- --url ${gateway}`}`;
  return `
  See it work, from another terminal:
      ${bold(client)}
`;
}

function bold(text: string): string {
  return styleText('bold', text, { stream: process.stderr });
}

function dim(text: string): string {
  return styleText('dim', text, { stream: process.stderr });
}
