import { describe, expect, test } from '@jest/globals';

import type { CompiledUpstreamClient } from '../../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { CompiledRoute } from '../../../../shared/snapshot/snapshot.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import type { UpstreamAuthOutcome } from '../../../../proxy/upstream-oauth/upstream-auth-reports.ts';
import { UpstreamAuthorizations } from '../../../../proxy/upstream-oauth/upstream-authorizations.ts';
import { anOrigin } from '../../../support/an-origin.ts';
import { aCompiledRoute } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const ORIGIN = anOrigin('https://files.example.com');
const TOKEN_URL = 'https://as.example.com/token';

function routeWith(client: CompiledUpstreamClient): CompiledRoute {
  const upstreamOAuth = {
    routeId: 'uid',
    client,
    endpoints: { authorizationUrl: 'https://as.example.com/authorize', tokenUrl: TOKEN_URL },
    authorizationParams: {},
    sendsResource: true,
  };
  return aCompiledRoute({ mcpServer: { path: '/mcp', maxRequestBytes: 4096, upstreamOAuth } });
}

/** Nobody may be asked. */
function world(): {
  readonly authorizations: UpstreamAuthorizations;
  readonly outcomes: readonly UpstreamAuthOutcome[];
} {
  const outcomes: UpstreamAuthOutcome[] = [];
  const authorizations = new UpstreamAuthorizations({
    knowsClient: () => Promise.reject(new Error('nobody is to be asked')),
    guardedFetch: () => Promise.reject(new Error('nobody is to be asked')),
    registrations: createMemoryStores().upstreamRegistrations,
    reports: { report: (_route, outcome) => void outcomes.push(outcome) },
    devAllowLoopback: false,
    logger: { info: () => undefined },
    now: Date.now,
  });
  return { authorizations, outcomes };
}

const CONFIGURATION = { settings: compiledSettings() };

describe('given credentials with given endpoints', () => {
  test('are used without asking anybody, so that it is unknown whether they work', async () => {
    const { authorizations, outcomes } = world();
    const found = await authorizations.forConnection(
      routeWith({ id: 'gateway', secret: 'secret' }),
      ORIGIN,
      CONFIGURATION,
    );

    expect(found.client).toMatchObject({ id: 'gateway', secret: 'secret', source: 'given' });
    expect(outcomes).toEqual([]);
  });

  test('are not used as a public client while their Secret is missing', async () => {
    const { authorizations, outcomes } = world();
    const route = routeWith({ id: 'gateway', lacksSecret: true });

    await expect(authorizations.forConnection(route, ORIGIN, CONFIGURATION)).rejects.toMatchObject({
      reason: 'upstream-auth-no-client-secret',
      missing: { setting: 'mcp.server.upstreamOauth2.clientSecretRef' },
    });
    await expect(
      authorizations.forIssuer(route, ORIGIN, CONFIGURATION, {
        issuer: TOKEN_URL,
        clientId: 'gateway',
      }),
    ).rejects.toMatchObject({ reason: 'upstream-auth-no-client-secret' });
    expect(outcomes).toMatchObject([{ kind: 'failure', reason: 'upstream-auth-no-client-secret' }]);
  });
});
