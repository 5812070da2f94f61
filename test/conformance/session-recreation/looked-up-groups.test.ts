import { describe, expect } from '@jest/globals';

import { startGroupsEndpoint, type GroupsEndpoint } from '../../support/groups-endpoint.ts';
import {
  refresh,
  startSessionWorld,
  tokensIn,
  type SessionWorld,
} from '../../support/session-world.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const LEFT_OUT = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } };

interface Started extends AsyncDisposable {
  readonly world: SessionWorld;
  readonly endpoint: GroupsEndpoint;
}

/** A world whose provider leaves out the groups of alice, with a policy that denies by group. */
async function startWorld(deny: Readonly<Record<string, unknown>>): Promise<Started> {
  const stack = new AsyncDisposableStack();
  const world = stack.use(await startSessionWorld());
  const { issuer, clientId, users } = world.identityProvider;
  const endpoint = stack.use(await startGroupsEndpoint(world.identityProvider));
  endpoint.groups = ['staff', 'team-a', 'engineering'];
  users.set('alice', { name: 'Alice', ...LEFT_OUT });
  const provider = {
    ...{ name: 'test', issuerUrl: issuer, clientId },
    clientSecretRef: { name: 'identity-provider', key: 'client-secret' },
    scopes: ['openid', 'profile', 'groups'],
    groupsLookup: { url: endpoint.url, groupsPath: 'value/id' },
  };
  const policy = { allow: { and: [{ accept: true }] }, deny: { or: [deny] } };
  await world.serve({ policy }, { identityProviders: [provider] });
  return { world, endpoint, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('Groups that were looked up', () => {
  for (const deny of [
    { groups: { is: 'engineering' } },
    { 'claim/groups': { is: 'engineering' } },
  ]) {
    verifies(
      'states.current-policies',
      `are looked up again at a renewal, for ${Object.keys(deny).join()}`,
      async () => {
        await using started = await startWorld(deny);
        const { world, endpoint } = started;
        const client = await signInClient(world.url);
        expect(await world.statusWith(client.accessToken)).toBe(403);

        endpoint.groups = ['staff'];
        world.expireSessions();
        const without = tokensIn(await refresh(client));
        expect(await world.statusWith(without.accessToken)).toBe(200);

        endpoint.groups = ['staff', 'engineering'];
        world.expireSessions();
        const again = tokensIn(await refresh(client, { token: without.refreshToken }));
        expect(await world.statusWith(again.accessToken)).toBe(403);
      },
    );
  }

  verifies(
    'states.current-policies',
    'do not end a session if they cannot be looked up at a renewal, and do not renew it',
    async () => {
      await using started = await startWorld({ groups: { is: 'engineering' } });
      const { world, endpoint } = started;
      const client = await signInClient(world.url);
      endpoint.answer = { status: 500 };
      world.expireSessions();
      expect((await refresh(client)).status).toBe(503);

      endpoint.answer = undefined;
      // After a failure the provider is left in peace for a moment.
      world.advance(3000);
      const { accessToken } = tokensIn(await refresh(client));
      expect(await world.statusWith(accessToken)).toBe(403);
    },
  );
});
