import { beforeEach, describe, expect } from '@jest/globals';
import { decodeJwt } from 'jose';

import { startBearerWorld } from '../../support/bearer-world.ts';
import { membersOf, send, type Answer } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { verifies } from '../../requirements/verifies.ts';

const SECOND = 1000;
const HOUR = 3600;
const UNAVAILABLE = 'identity-provider-unavailable';

const world = openForAll(startBearerWorld);

beforeEach(() => {
  world().setClock(0);
});

function get(url: string, token: string): Promise<Answer> {
  return send(url, { headers: { authorization: `Bearer ${token}` } });
}

/** How often the provider was asked about access tokens. */
function questions(): number {
  const { hits } = world().users.identityProvider;
  return (hits.get('/me') ?? 0) + (hits.get('/token/introspection') ?? 0);
}

describe('A JWT', () => {
  verifies('bearer.cost', 'needs its provider only for the keys, once', async () => {
    await get(world().jwt, await world().machines.sign({ sub: 'robot' }));
    const before = world().machines.keyRequests();
    for (const jti of ['one', 'two', 'three']) {
      const token = await world().machines.sign({ sub: 'robot', jti });
      expect((await get(world().jwt, token)).status).toBe(200);
    }
    expect(world().machines.keyRequests()).toBe(before);
  });

  verifies('bearer.cost', 'needs no store, so it is accepted while they are away', async () => {
    const token = await world().machines.sign({ sub: 'robot', jti: 'without stores' });
    world().setStoresAway(true);
    const accepted = await get(world().jwt, token);
    const refused = await get(world().jwt, 'made-up');
    world().setStoresAway(false);
    expect([accepted.status, refused.status]).toEqual([200, 401]);
  });

  verifies('bearer.same-session', 'is one session, which ends with the token', async () => {
    const token = await world().machines.sign({ sub: 'robot', jti: 'session' });
    const { length } = world().upstream.requests;
    await get(world().jwt, token);
    await get(world().jwt, token);
    const assertions = world()
      .upstream.requests.slice(length)
      .map(({ message }) => decodeJwt(String(message.headers['x-gateway-assertion'])).jti);
    expect(new Set(assertions).size).toBe(1);
    world().setClock(700 * SECOND);
    expect(await get(world().jwt, token)).toMatchObject({ status: 401 });
  });

  verifies(
    ['bearer.same-session', 'bearer.effective-format'],
    'is accepted no longer once its audience is gone from the settings',
    async () => {
      const token = await world().machines.sign({ sub: 'robot', jti: 'settings' });
      expect((await get(world().jwt, token)).status).toBe(200);
      const identityProviders = world().identityProviders.map((provider) =>
        provider.audiences === undefined ? provider : { ...provider, audiences: ['other'] },
      );
      await world().serve({ identityProviders });
      const refused = await get(world().jwt, token);
      await world().serve();
      expect(refused.status).toBe(401);
      expect((await get(world().jwt, token)).status).toBe(200);
    },
  );

  verifies('bearer.invalid-token', 'whose provider is away gets 503, and may retry', async () => {
    const sign = (jti: string) =>
      world().machines.sign({ sub: 'robot', jti, exp: Math.floor(Date.now() / SECOND) + 4 * HOUR });
    const [known, cold] = [await sign('known'), await sign('cold')];
    await get(world().jwt, known);
    await world().machines.stop();
    const accepted = await get(world().jwt, known);
    // The keys of a provider that is away count for an hour.
    world().setClock(2 * HOUR * SECOND);
    const [answer, old] = [await get(world().jwt, cold), await get(world().jwt, known)];
    await world().machines.start();
    world().setClock((2 * HOUR + 10) * SECOND);
    const retried = await get(world().jwt, cold);
    expect(accepted.status).toBe(200);
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
    expect(membersOf(answer)).toMatchObject({ error: UNAVAILABLE });
    expect(old.status).toBe(503);
    expect(retried.status).toBe(200);
  });
});

describe('An opaque access token', () => {
  verifies('bearer.cost', 'is asked about once in its lifetime in the settings', async () => {
    await world().signIn('alice');
    const token = world().accessToken();
    expect((await get(world().access, token)).status).toBe(200);
    const asked = questions();
    for (let count = 0; count < 3; count += 1) await get(world().access, token);
    expect(questions()).toBe(asked);
    world().setClock(61 * SECOND);
    expect((await get(world().access, token)).status).toBe(200);
    expect(questions()).toBeGreaterThan(asked);
  });

  verifies('bearer.cost', 'that is refused is not asked about again at once', async () => {
    expect((await get(world().access, 'made-up')).status).toBe(401);
    const asked = questions();
    expect((await get(world().access, 'made-up')).status).toBe(401);
    expect(questions()).toBe(asked);
  });

  for (const kind of ['gte_', 'gtr_']) {
    verifies(
      'bearer.cost',
      `is not asked about if it is a ${kind} token of the gateway`,
      async () => {
        const asked = questions();
        const token = `${kind}${'A'.repeat(60)}`;
        const reasons = await world().reasonsDuring(() => get(world().access, token));
        expect(reasons).toEqual(['malformed-token']);
        expect(questions()).toBe(asked);
      },
    );
  }

  verifies('bearer.cost', 'is not asked about after sixty bad ones of its network', async () => {
    for (let count = 0; count < 60; count += 1) await get(world().access, `bad-${String(count)}`);
    const asked = questions();
    const answer = await get(world().access, 'one-more');
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
    expect(questions()).toBe(asked);
    world().setClock(61 * SECOND);
    expect((await get(world().access, 'one-more')).status).toBe(401);
  });
});
