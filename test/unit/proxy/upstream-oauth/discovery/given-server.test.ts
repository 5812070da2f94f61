import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  startUpstreamSite,
  type UpstreamSite,
} from '../../../../support/upstream-oauth/upstream-site.ts';

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

describe('given endpoints', () => {
  test('are used without asking anybody, whatever the settings allow', async () => {
    site.settings = { ...site.settings, allowedAsMetadataDomains: [], outboundAllowedCidrs: [] };
    const tokenUrl = site.url('evil.test', '/token');
    site.oauth = {
      ...site.oauth,
      client: { id: 'given', secret: 'secret' },
      endpoints: { authorizationUrl: site.url('evil.test', '/authorize'), tokenUrl },
    };
    site.pages.set('evil.test/token', {});
    const { server, client, resource: found, isGiven, issuer, fetch } = await site.discover();
    expect(server.authorization_endpoint).toBe(site.url('evil.test', '/authorize'));
    expect(client).toEqual({
      id: 'given',
      secret: 'secret',
      authMethod: 'client_secret_basic',
      source: 'given',
    });
    expect({ found, isGiven, issuer }).toEqual({
      found: site.url('mcp.example', '/tools/mcp'),
      isGiven: true,
      issuer: tokenUrl,
    });
    expect(site.requests).toEqual([]);
    const body = new URLSearchParams({ grant_type: 'refresh_token' });
    await fetch(tokenUrl, { method: 'POST', headers: {}, body, redirect: 'manual' });
    expect(site.requests).toEqual(['POST evil.test/token']);
  });

  test('that have changed are not those of a recorded token', async () => {
    const endpoints = { authorizationUrl: 'https://a.test/', tokenUrl: 'https://a.test/token' };
    site.oauth = { ...site.oauth, client: { id: 'given' }, endpoints };
    const recorded = { issuer: endpoints.tokenUrl, clientId: 'given' };
    expect(await site.forIssuer(recorded)).toMatchObject({
      client: { id: 'given', authMethod: 'none' },
    });
    expect(await site.forIssuer({ ...recorded, issuer: 'https://b.test/token' })).toBeNull();
    expect(await site.forIssuer({ ...recorded, clientId: 'another' })).toBeNull();
  });
});
