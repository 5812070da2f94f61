import { describe, expect } from '@jest/globals';

import { errorIn, refresh, startSessionWorld } from '../../support/session-world.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const OVER = { status: 400, error: 'invalid_grant' };
const LEFT_OUT = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } };

describe('A renewal with groups that cannot be read', () => {
  for (const claimsInIdToken of [false, true]) {
    for (const [reason, claims] of [
      ['groups-left-out', LEFT_OUT],
      ['groups-unreadable', { groups: null }],
      ['groups-unreadable', { groups: ['engineering', 7] }],
    ] as const) {
      verifies(
        ['states.current-policies', 'states.session-stays-expired'],
        `keeps no groups and loses none: ${JSON.stringify(claims)} in ${claimsInIdToken ? 'the identity token' : 'userinfo'}`,
        async () => {
          await using world = await startSessionWorld({ claimsInIdToken });
          const { identityProvider } = world;
          const allow = { and: [{ accept: true }] };
          await world.serve({
            policy: { allow, deny: { or: [{ groups: { is: 'engineering' } }] } },
          });
          const client = await signInClient(world.url);
          expect(await world.statusWith(client.accessToken)).toBe(403);

          const { name, email } = identityProvider.users.get('alice') ?? {};
          identityProvider.users.set('alice', { name, email, ...claims });
          world.expireSessions();
          expect(errorIn(await refresh(client))).toEqual(OVER);
          expect(errorIn(await refresh(client))).toEqual(OVER);
          expect(world.gateway.logs()).toContainEqual(
            expect.objectContaining({ message: 'sign-in ended', reason, provider: 'test' }),
          );
        },
      );
    }
  }
});
