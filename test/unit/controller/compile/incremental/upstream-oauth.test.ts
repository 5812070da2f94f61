import { describe, expect, test } from '@jest/globals';

import type { CompiledUpstreamOAuth } from '../../../../../shared/snapshot/compiled-upstream-oauth.ts';
import {
  startedCluster,
  settingsSpec,
  type CompilerCluster,
} from '../../../../support/compiler-cluster.ts';
import { secret } from './settings-with-secret.ts';

const NAME = 'x/upstream';
const ROUTE = 'x/app';

/** A route whose client at the upstream has a secret. */
function routeWith(name = 'upstream', change: object = {}): object {
  const clientSecretRef = { name, key: 'secret' };
  return {
    from: 'https://a.example.com',
    to: 'https://mcp.example.com',
    mcp: { server: { upstreamOauth2: { clientId: 'gateway', clientSecretRef, ...change } } },
    allowAnyAuthenticatedUser: true,
  };
}

function started(): CompilerCluster {
  const cluster = startedCluster();
  cluster.change(secret('first', NAME));
  cluster.put({ [ROUTE]: routeWith() });
  return cluster;
}

function upstreamOAuth(cluster: CompilerCluster): CompiledUpstreamOAuth | undefined {
  return cluster.routes[ROUTE]?.mcpServer?.upstreamOAuth;
}

describe('the client secret of a route', () => {
  test('is asked for, and reaches the snapshot', () => {
    const cluster = started();

    expect(cluster.compiler.secretNames).toEqual(new Set([NAME]));
    expect(upstreamOAuth(cluster)?.client).toEqual({ id: 'gateway', secret: 'first' });
    expect(cluster.reasons(ROUTE)).toEqual([]);
  });

  test('that changes reaches the snapshot at once, and compiles no route', () => {
    const cluster = started();
    const { compilations } = cluster;
    const { put } = cluster.change(secret('second', NAME));

    expect(put.map(({ key }) => key)).toEqual(['route/x/app']);
    expect(upstreamOAuth(cluster)?.client).toEqual({ id: 'gateway', secret: 'second' });
    expect(cluster.compilations).toBe(compilations);
  });

  test('that is deleted leaves the route accepted, with a client that is not public', () => {
    const cluster = started();
    cluster.change(secret(undefined, NAME));

    expect(upstreamOAuth(cluster)?.client).toEqual({ id: 'gateway', lacksSecret: true });
    expect(cluster.verdicts.get(ROUTE)).toMatchObject({
      isAccepted: true,
      problems: [
        {
          path: 'spec.mcp.server.upstreamOauth2.clientSecretRef',
          reason: 'SecretNotFound',
          message: `there is no Secret ${NAME}`,
        },
      ],
    });
    expect(cluster.status(ROUTE)?.conditions).toContainEqual(
      expect.objectContaining({ type: 'ResolvedRefs', status: 'False', reason: 'SecretNotFound' }),
    );

    cluster.change(secret('third', NAME));

    expect(upstreamOAuth(cluster)?.client).toEqual({ id: 'gateway', secret: 'third' });
    expect(cluster.reasons(ROUTE)).toEqual([]);
  });

  test('is asked for only while a generation that may serve refers to it', () => {
    const cluster = started();
    cluster.put({ [ROUTE]: { ...routeWith('next'), regex: '/a' } });

    expect(upstreamOAuth(cluster)?.client).toEqual({ id: 'gateway', secret: 'first' });
    expect(cluster.compiler.secretNames).toEqual(new Set([NAME]));

    cluster.put({ [ROUTE]: routeWith('next') });

    expect(cluster.compiler.secretNames).toEqual(new Set(['x/next']));

    cluster.delete(ROUTE);

    expect(cluster.compiler.secretNames).toEqual(new Set());
  });

  test('of an earlier generation that serves is asked for by the next controller', () => {
    const cluster = started();
    cluster.put({ [ROUTE]: { ...routeWith('next'), regex: '/a' } });
    cluster.takeOver();

    expect(cluster.compiler.secretNames).toEqual(new Set([NAME]));
    expect(upstreamOAuth(cluster)?.client).toEqual({ id: 'gateway', secret: 'first' });
  });

  test('is never in a verdict', () => {
    const cluster = started();

    expect(JSON.stringify(cluster.verdicts.get(ROUTE))).not.toContain('first');
  });
});

describe('the tokens of a route', () => {
  test('belong to the uid of the Route, which a Route of the same name does not get back', () => {
    const cluster = started();
    const { uid } = cluster.stored(ROUTE).metadata;

    expect(upstreamOAuth(cluster)?.routeId).toBe(uid);

    cluster.put({ [ROUTE]: routeWith('upstream', { scopes: ['a'] }) });

    expect(upstreamOAuth(cluster)?.routeId).toBe(uid);

    cluster.delete(ROUTE);
    cluster.put({ [ROUTE]: routeWith() });

    expect(upstreamOAuth(cluster)?.routeId).not.toBe(uid);
  });
});

describe('a route with mcp.client', () => {
  const WEB = {
    from: 'https://b.example.com',
    to: 'http://agent',
    allowAnyAuthenticatedUser: true,
  };
  const APP = { ...WEB, mcp: { client: {} } };

  test('serves while the settings list its namespace', () => {
    const cluster = startedCluster();
    cluster.put({ 'apps/agent': APP });

    expect(cluster.routes).toEqual({});
    expect(cluster.reasons('apps/agent')).toEqual(['NotAllowedByGateway']);

    cluster.putSettings(settingsSpec({ mcpClientNamespaces: ['apps'] }));

    expect(cluster.routes['apps/agent']).toMatchObject({ mcpClient: true });
    expect(cluster.status('apps/agent')).toMatchObject({ mcpRole: 'client' });

    cluster.putSettings(settingsSpec({ mcpClientNamespaces: [] }));

    expect(cluster.routes).toEqual({});
    expect(cluster.status('apps/agent')?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Accepted', status: 'False', reason: 'NotAllowedByGateway' }),
    );
  });

  test('keeps serving as what it was while it becomes an application without permission', () => {
    const cluster = startedCluster();
    cluster.put({ 'apps/agent': WEB });
    cluster.put({ 'apps/agent': APP });

    expect(cluster.routes['apps/agent']).toBeDefined();
    expect(cluster.routes['apps/agent']).not.toHaveProperty('mcpClient');
  });
});

describe('the upstream of a route that discovery has to ask', () => {
  const DISCOVERY = { ...routeWith(), mcp: { server: { upstreamOauth2: {} } } };
  const ENDPOINTS = {
    authUrl: 'https://as.example.com/authorize',
    tokenUrl: 'https://as.example.com/token',
  };

  test('is in the verdict as long as the settings do not list its host', () => {
    const cluster = startedCluster();
    cluster.put({ [ROUTE]: DISCOVERY });
    const before = cluster.verdicts.get(ROUTE)?.upstreamAuth;

    expect(before).toMatchObject({ unlistedHost: 'mcp.example.com' });
    expect(cluster.verdicts.get(ROUTE)).toMatchObject({ isAccepted: true });

    cluster.putSettings(settingsSpec({ mcpAllowedAsMetadataDomains: ['*.example.com'] }));
    const after = cluster.verdicts.get(ROUTE)?.upstreamAuth;

    expect(after).not.toHaveProperty('unlistedHost');
    expect(after?.configuration).not.toBe(before?.configuration);
  });

  test('needs no entry if the endpoints are given, or a fallback issuer has one', () => {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ mcpAllowedAsMetadataDomains: ['as.example.com'] }));
    cluster.put({ [ROUTE]: routeWith('upstream', { endpoint: ENDPOINTS }) });

    expect(cluster.verdicts.get(ROUTE)?.upstreamAuth).not.toHaveProperty('unlistedHost');

    const authorizationServerUrl = 'https://as.example.com';
    const server = { upstreamOauth2: {}, authorizationServerUrl };
    cluster.put({ [ROUTE]: { ...DISCOVERY, mcp: { server } } });

    expect(cluster.verdicts.get(ROUTE)?.upstreamAuth).not.toHaveProperty('unlistedHost');
  });

  test('is configured anew by what discovery depends on, and not by the policy or the secret', () => {
    const cluster = started();
    const configuration = (): unknown => cluster.verdicts.get(ROUTE)?.upstreamAuth?.configuration;
    const first = configuration();
    cluster.put({
      [ROUTE]: { ...routeWith(), policy: { allow: { or: [{ email: 'a@b.example' }] } } },
    });
    cluster.change(secret('second', NAME));

    expect(configuration()).toBe(first);

    cluster.put({ [ROUTE]: routeWith('upstream', { clientId: 'other' }) });

    expect(configuration()).not.toBe(first);
  });
});
