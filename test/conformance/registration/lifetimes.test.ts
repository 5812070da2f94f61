import { describe, expect } from '@jest/globals';

import { compiledSettings } from '../../support/compiled-settings.ts';
import { verifies } from '../../requirements/verifies.ts';
import {
  ISSUER,
  startAuthorizationServer,
  type TestServer,
} from '../../support/authorization-server.ts';
import {
  authorizationUrl,
  obtainCode,
  redeem,
  refresh,
  register,
  revoke,
  tokensOf,
  type RegisteredTestClient,
} from '../../support/client-flow.ts';
import { tokenErrorOf } from '../../support/registration-cases.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Settings that forget unused clients after an hour. */
const SHORT_LIVED = compiledSettings({
  gatewayId: 'gatehouse/test',
  unusedClientSeconds: 3600,
  tokens: { ...compiledSettings().tokens, refreshTokenSeconds: 3600 },
});

/** Uses of a registration, some time after the steps that they require. */
type Use = (server: TestServer, client: RegisteredTestClient, later: () => void) => Promise<void>;

const USES: readonly (readonly [title: string, use: Use])[] = [
  [
    'its approval',
    async (server, client, later) => {
      later();
      await obtainCode(server, client);
    },
  ],
  [
    'a refresh',
    async (server, client, later) => {
      const code = await obtainCode(server, client);
      const { refreshToken } = tokensOf(await redeem(server, code, client));
      later();
      expect((await refresh(server, refreshToken, client)).status).toBe(200);
    },
  ],
];

/** Requests that anyone can send who has registered a client. */
const NO_USES: readonly (readonly [title: string, use: Use])[] = [
  [
    'an authorization request',
    async (server, client, later) => {
      later();
      expect((await server.send(authorizationUrl(client.id))).status).toBe(303);
    },
  ],
  [
    'a look at the consent page',
    async (server, client, later) => {
      const { headers } = await server.send(authorizationUrl(client.id));
      const cookie = await server.signIn();
      later();
      const page = await server.send(headers.location ?? '', { headers: { cookie } });
      expect(page.status).toBe(200);
    },
  ],
  [
    'a token request that is refused',
    async (server, client, later) => {
      later();
      expect(await tokenErrorOf(server, { client_id: client.id })).toBe('invalid_grant');
    },
  ],
  [
    'the revocation of an unknown token',
    async (server, client, later) => {
      later();
      expect((await revoke(server, 'x', client)).status).toBe(200);
    },
  ],
];

describe('The lifetime of a registration', () => {
  verifies(
    'as.registration-expires',
    'a registration without an approval is forgotten after two hours',
    async () => {
      await using server = await startAuthorizationServer();
      const { id } = await register(server);
      server.clock.now += 2 * HOUR - SECOND;
      expect(await tokenErrorOf(server, { client_id: id })).toBe('invalid_grant');
      server.clock.now += SECOND;
      expect(await tokenErrorOf(server, { client_id: id })).toBe('invalid_client');
    },
  );

  verifies(
    'as.registration-expires',
    'a registration without an approval is forgotten as early as the settings say',
    async () => {
      await using server = await startAuthorizationServer({ settings: SHORT_LIVED });
      const { id } = await register(server);
      server.clock.now += HOUR;
      expect(await tokenErrorOf(server, { client_id: id })).toBe('invalid_client');
    },
  );

  for (const [title, use] of USES) {
    verifies(
      'as.registration-expires',
      `a registration is kept longer after ${title}`,
      async () => {
        await using server = await startAuthorizationServer({ settings: SHORT_LIVED });
        const client = await register(server);
        await use(server, client, () => (server.clock.now += MINUTE));
        server.clock.now += HOUR - SECOND;
        expect(await server.stores.clients.get(ISSUER, client.id)).not.toBeNull();
        server.clock.now += SECOND;
        expect(await server.stores.clients.get(ISSUER, client.id)).toBeNull();
      },
    );
  }

  // Anyone may register, and registrations take memory.
  for (const [title, use] of NO_USES) {
    verifies(
      'as.registration-expires',
      `a registration is not kept longer after ${title}`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        await use(server, client, () => (server.clock.now += MINUTE));
        server.clock.now += 2 * HOUR - MINUTE;
        expect(await server.stores.clients.get(ISSUER, client.id)).toBeNull();
      },
    );
  }

  verifies(
    'as.registration-expires',
    'a registration with an approval is kept as long as the settings say',
    async () => {
      const settings = { ...SHORT_LIVED, unusedClientSeconds: 7200 };
      await using server = await startAuthorizationServer({ settings });
      const client = await register(server);
      await obtainCode(server, client);
      server.clock.now += 2 * HOUR - SECOND;
      expect(await server.stores.clients.get(ISSUER, client.id)).not.toBeNull();
      server.clock.now += SECOND;
      expect(await server.stores.clients.get(ISSUER, client.id)).toBeNull();
    },
  );

  verifies(
    'as.registration-expires',
    'a registration is kept as long as its refresh token can be used',
    async () => {
      const tokens = { ...SHORT_LIVED.tokens, refreshTokenSeconds: 7200 };
      await using server = await startAuthorizationServer({ settings: { ...SHORT_LIVED, tokens } });
      const client = await register(server);
      const first = tokensOf(await redeem(server, await obtainCode(server, client), client));
      server.clock.now += 2 * HOUR - SECOND;
      expect((await refresh(server, first.refreshToken, client)).status).toBe(200);
    },
  );
});
