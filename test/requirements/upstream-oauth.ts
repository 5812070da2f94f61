import { MCP, type Requirements } from './requirement.ts';

/** The gateway as a client of the authorization servers of upstreams. */
export const UPSTREAM_OAUTH = {
  'upstream-oauth.official-suite': {
    source: MCP,
    behavior:
      'Towards an authorization server, the gateway behaves as the official conformance suite demands of clients.',
  },
} as const satisfies Requirements;
