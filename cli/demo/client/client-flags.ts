import { parseArgs } from 'node:util';

import type { Environment } from '../../../shared/runtime/environment.ts';
import { findPerson, PEOPLE } from '../people.ts';

/** Default URL of the demo's MCP server. */
export const DEFAULT_SERVER_URL = 'http://localhost:8080';

const ACCOUNTS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  PEOPLE.map(({ account }) => account),
);

/** Help of the demo client. */
export const CLIENT_USAGE = `Usage: npm run demo:client -- [--url URL] [--as PERSON]

Signs in to the MCP server of the demo and calls its tools.

  --url URL     the server (DEMO_MCP_URL, default ${DEFAULT_SERVER_URL})
  --as PERSON   sign in as ${ACCOUNTS} without a browser (DEMO_SIGN_IN_AS)
`;

/** Flags of the demo client. */
export interface ClientFlags {
  readonly serverUrl: URL;
  /** The account that signs in without a browser; undefined: a person signs in with a browser. */
  readonly account: string | undefined;
}

/** Reads flags and environment; flags win. Throws a `TypeError` that names the problem. */
export function readClientFlags(argv: readonly string[], environment: Environment): ClientFlags {
  const { values } = parseArgs({
    args: [...argv],
    options: { url: { type: 'string' }, as: { type: 'string' } },
  });
  const url = values.url ?? environment['DEMO_MCP_URL'] ?? DEFAULT_SERVER_URL;
  if (!URL.canParse(url)) throw new TypeError(`--url: "${url}" is not a URL`);
  const account = values.as ?? environment['DEMO_SIGN_IN_AS'];
  if (account !== undefined && findPerson(account) === undefined) {
    throw new TypeError(`--as takes ${ACCOUNTS}, not "${account}"`);
  }
  return { serverUrl: new URL(url), account };
}
