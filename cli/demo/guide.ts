import { styleText } from 'node:util';

import { DEFAULT_SERVER_URL } from './client/client-flags.ts';
import type { GatewayOrigins } from './gateway-origins.ts';
import { PEOPLE } from './people.ts';

/** The addresses that the guide shows. */
export interface GuideFacts extends Pick<GatewayOrigins, 'gateway' | 'application'> {
  readonly manifestPath: string;
}

/** Returns the next steps for a user of the demo, as text for the terminal. */
export function guide({ gateway, application, manifestPath }: GuideFacts): string {
  const bold = (text: string): string => styleText('bold', text, { stream: process.stderr });
  const dim = (text: string): string => styleText('dim', text, { stream: process.stderr });
  const isWhereClientLooks = gateway === DEFAULT_SERVER_URL;
  const client = `npm run demo:client${isWhereClientLooks ? '' : ` -- --url ${gateway}`}`;
  const people = PEOPLE.map(({ name, groups }) => `${name} (${groups.join(', ')})`).join(', ');
  return `
  ${bold('Gatehouse is running, with two MCP servers and an application behind it.')}

  See it work, from another terminal:
      ${bold(client)}
  Or paste this URL into an MCP client of your own:
      ${bold(gateway)}

  Or open the sample application in a browser, which uses MCP servers for you:
      ${bold(application)}
      It lists the servers. The notes want an account: press Connect, choose one, and call a tool.

  Sign in as ${people}.
  Everybody may call the tools; only admins may call ${bold('delete_invoice')}.
  The policy is in ${bold(`${manifestPath}/route.yaml`)}: edit it, and the change takes effect at once.

  ${dim('Decisions of the gateway show up below. Ctrl-C stops everything.')}

`;
}
