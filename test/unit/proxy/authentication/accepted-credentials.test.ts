import { expect, test } from '@jest/globals';

import { acceptedCredential } from '../../../../proxy/authentication/accepted-credentials.ts';
import { aRoute, aWebRoute } from '../../../support/authorization-server.ts';

const PUBLIC = { access: { kind: 'public' } } as const;

test.each([
  { kind: 'a web route', route: aWebRoute(), accepted: 'session-cookie' },
  { kind: 'an MCP server route', route: aRoute(), accepted: 'external-token' },
  { kind: 'a public web route', route: aWebRoute(PUBLIC), accepted: 'nothing' },
  { kind: 'a public MCP server route', route: aRoute(PUBLIC), accepted: 'nothing' },
])('$kind accepts $accepted as credential', ({ route, accepted }) => {
  expect(acceptedCredential(route)).toBe(accepted);
});
