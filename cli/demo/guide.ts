import { styleText } from 'node:util';

import { DEFAULT_SERVER_URL } from './client/client-flags.ts';
import { PEOPLE } from './people.ts';

/** The addresses that the guide shows. */
export interface GuideFacts {
  readonly gatewayOrigin: string;
  readonly manifestPath: string;
}

/** Returns the next steps for a user of the demo, as text for the terminal. */
export function guide({ gatewayOrigin, manifestPath }: GuideFacts): string {
  const bold = (text: string): string => styleText('bold', text, { stream: process.stderr });
  const dim = (text: string): string => styleText('dim', text, { stream: process.stderr });
  const isWhereClientLooks = gatewayOrigin === DEFAULT_SERVER_URL;
  const client = `npm run demo:client${isWhereClientLooks ? '' : ` -- --url ${gatewayOrigin}`}`;
  const people = PEOPLE.map(({ name, groups }) => `${name} (${groups.join(', ')})`).join(', ');
  return `
  ${bold('Gatehouse is running, with an MCP server behind it.')}

  See it work, from another terminal:
      ${bold(client)}
  Or paste this URL into an MCP client of your own:
      ${bold(gatewayOrigin)}

  Sign in as ${people}.
  Everybody may call the tools; only admins may call ${bold('delete_invoice')}.
  The policy is in ${bold(`${manifestPath}/route.yaml`)}: edit it, and the change takes effect at once.

  ${dim('Decisions of the gateway show up below. Ctrl-C stops everything.')}

`;
}
