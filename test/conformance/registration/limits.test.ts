import { describe, expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
  type Reply,
} from '../../support/authorization-server.ts';
import { fieldsOf } from '../../support/client-flow.ts';
import { post } from '../../support/registration-cases.ts';

const REDIRECT_URIS = [LOOPBACK_CALLBACK];

describe('Client registration', () => {
  verifies(
    ['as.redirect-uri-allowed', 'as.application-type'],
    'the registration endpoint accepts the redirect URIs of Cursor',
    async () => {
      await using server = await startAuthorizationServer();
      const redirectUris = [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ];
      const reply = await post(server, {
        client_name: 'Cursor',
        application_type: 'web',
        redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
      });
      expect(reply.status).toBe(201);
      expect(fieldsOf(reply)).toMatchObject({ redirect_uris: redirectUris });
    },
  );

  verifies(
    'as.registration',
    'the response contains the redirect URIs that were registered from a mixed list',
    async () => {
      await using server = await startAuthorizationServer();
      const reply = await post(server, { redirect_uris: ['unheard-of://cb', LOOPBACK_CALLBACK] });
      expect(reply.status).toBe(201);
      expect(fieldsOf(reply)).toMatchObject({ redirect_uris: [LOOPBACK_CALLBACK] });
    },
  );

  verifies(
    'as.registration-rate-limited',
    'an address can register twenty clients a minute',
    async () => {
      await using server = await startAuthorizationServer();
      const attempt = (): Promise<Reply> => post(server, { redirect_uris: REDIRECT_URIS });
      const replies = await Promise.all(Array.from({ length: 20 }, attempt));
      expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(201));
      const refused = await attempt();
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toBe('60');
      server.clock.now += 60_000;
      expect((await attempt()).status).toBe(201);
    },
  );

  verifies(
    'as.registration-rate-limited',
    'refused registrations count towards the limit',
    async () => {
      await using server = await startAuthorizationServer();
      for (let index = 0; index < 20; index += 1) await post(server, {});
      expect((await post(server, { redirect_uris: REDIRECT_URIS })).status).toBe(429);
    },
  );

  verifies(
    'as.cors',
    'pages of any origin can read the response, without credentials',
    async () => {
      await using server = await startAuthorizationServer();
      const { headers } = await post(server, { redirect_uris: REDIRECT_URIS });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    },
  );
});
