import { once } from 'node:events';

import { describe, expect } from '@jest/globals';

import { open } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  EXAMPLE_USERS,
  expectDeniedCall,
  expectForbidden,
  LIST,
  OK,
  startPolicyWorld,
  toolCall,
  type Access,
} from '../../support/policy-world.ts';
import { RawClient } from '../../support/raw-http.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startPolicyWorld);

describe('A user whom the policy does not allow', () => {
  const NOBODY: readonly (readonly [string, Access, string])[] = [
    [
      'by e-mail',
      { policy: { allow: { or: [{ email: 'carol@example.com' }] } } },
      'email-unauthorized',
    ],
    [
      'whatever the tool',
      {
        policy: {
          allow: { and: [{ groups: { has: 'admins' } }, { mcp_tool: { not_in: ['delete'] } }] },
        },
      },
      'groups-unauthorized',
    ],
    [
      'by a denial',
      { policy: { allow: EXAMPLE_USERS, deny: { or: [{ user: 'alice' }] } } },
      'denied',
    ],
    ['because there is no policy', {}, 'not-allowed'],
  ];

  for (const [what, access, reason] of NOBODY) {
    verifies(
      'route.policy',
      `the gateway answers 403 without a challenge to every message of a user who is denied ${what}`,
      async () => {
        await world().serve(access);
        const before = world().upstream.requests.length;
        expectForbidden(await world().ask(toolCall('echo')), 7, reason);
        expectForbidden(await world().ask(LIST), 'list-1', reason);
        expectForbidden(await world().ask({ jsonrpc: '2.0', method: 'x' }), null, reason);
        expect(world().upstream.requests).toHaveLength(before);
      },
    );
  }
});

describe('Any authenticated user', () => {
  verifies(
    'route.policy',
    'a route for any authenticated user permits all users unless deny applies',
    async () => {
      await world().serve({ allowAnyAuthenticatedUser: true });
      expect(await world().outcomeOf(toolCall('echo'))).toEqual(OK);
      await world().serve({
        allowAnyAuthenticatedUser: true,
        policy: { deny: { or: [{ mcp_tool: { is: 'echo' } }] } },
      });
      expectDeniedCall(await world().ask(toolCall('echo')), 7);
      expect(await world().outcomeOf(toolCall('other'))).toEqual(OK);
    },
  );
});

describe('A policy that changes', () => {
  verifies(
    'mcp.policy-on-every-request',
    'a change of the policy affects the next request, and not a stream that has begun',
    async () => {
      await world().serve({ policy: { allow: EXAMPLE_USERS } });
      const index = world().upstream.requests.length;
      const stream = await open(world().mcp, { headers: world().headersOf('alice') });
      await once(stream, 'data');
      await world().serve({ policy: { allow: { or: [{ email: 'carol@example.com' }] } } });

      expectForbidden(await world().ask(LIST), 'list-1', 'email-unauthorized');
      const { response } = await world().upstream.request(index);
      response.write('data: 2\n\n');
      const [event] = (await once(stream, 'data')) as [Buffer];
      expect(event.toString()).toBe('data: 2\n\n');
      stream.destroy();

      await world().serve({ policy: { allow: EXAMPLE_USERS } });
      expect(await world().outcomeOf(LIST)).toEqual(OK);
    },
  );

  verifies(
    'mcp.policy-on-every-request',
    'a change of the policy affects the next request of a connection',
    async () => {
      const body = JSON.stringify(toolCall('echo'));
      const fields = Object.entries({
        host: new URL(world().mcp).host,
        ...world().headersOf('alice'),
        'content-length': String(body.length),
      }).map(([name, value]) => `${name}: ${value}`);
      const request = ['POST / HTTP/1.1', ...fields, '', body].join('\r\n');
      await using connection = await RawClient.connect(world().gateway.port);
      const denials: boolean[] = [];
      for (const deny of [undefined, { or: [{ mcp_tool: { is: 'echo' } }] }, undefined]) {
        await world().serve({ policy: { allow: EXAMPLE_USERS, ...(deny && { deny }) } });
        connection.send(request);
        denials.push((await connection.response()).body.includes('40301'));
      }
      expect(denials).toEqual([false, true, false]);
    },
  );
});
