import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { compiledSettings } from '../../../support/compiled-settings.ts';
import {
  RESOURCE_METADATA,
  SERVER_METADATA,
  startUpstreamSite,
  status,
  type UpstreamSite,
} from '../../../support/upstream-oauth/upstream-site.ts';

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

function allow(...domains: readonly string[]): void {
  site.settings = { ...site.settings, allowedAsMetadataDomains: domains };
}

function askedAt(host: string): readonly string[] {
  return site.requests.filter((request) => request.includes(` ${host}`));
}

describe('discovery asks only domains that the settings list', () => {
  test.each([
    ['the upstream', ['login.example'], 'mcp.example', 'resource-metadata'],
    ['the authorization server', ['mcp.example'], 'login.example', 'server-metadata'],
    ['subdomains only', ['mcp.example', '*.login.example'], 'login.example', 'server-metadata'],
    ['a name that ends alike', ['mcp.example', 'gin.example'], 'login.example', 'server-metadata'],
    ['nothing', [], 'mcp.example', 'resource-metadata'],
  ])('and fails where they list %s: %j', async (_title, domains, entry, step) => {
    allow(...domains);
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-domain-not-allowed',
      missing: { setting: 'mcpAllowedAsMetadataDomains', entry },
      message: `mcpAllowedAsMetadataDomains does not list the domain ${entry}`,
      step,
    });
    expect(askedAt(entry)).toEqual([]);
  });

  test('and nobody if the setting is absent', async () => {
    site.settings = compiledSettings({ outboundAllowedCidrs: ['127.0.0.0/8'] });
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-domain-not-allowed',
    });
    expect(site.requests).toEqual([]);
  });

  test('and infers no server from the metadata of the upstream', async () => {
    allow('*.example');
    site.change(RESOURCE_METADATA, { authorization_servers: [site.url('evil.test')] });
    await expect(site.discover()).rejects.toMatchObject({ missing: { entry: 'evil.test' } });
    expect(askedAt('evil.test')).toEqual([]);
  });

  test.each([
    ['token', 'token_endpoint'],
    ['registration', 'registration_endpoint'],
  ])('and sends no user where the %s endpoint could not be asked', async (step, member) => {
    site.pages.set(SERVER_METADATA, site.serverMetadata({ [member]: site.url('evil.test', '/x') }));
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-domain-not-allowed',
      missing: { entry: 'evil.test' },
      step,
    });
    expect(askedAt('evil.test')).toEqual([]);
  });

  test('but browsers may be sent to any', async () => {
    const url = site.url('evil.test', '/authorize');
    site.pages.set(SERVER_METADATA, site.serverMetadata({ authorization_endpoint: url }));
    expect((await site.discover()).server.authorization_endpoint).toBe(url);
  });

  test('and a registration endpoint that is not needed may be anywhere', async () => {
    site.oauth = { ...site.oauth, client: { id: 'given' } };
    const url = site.url('evil.test', '/register');
    site.pages.set(SERVER_METADATA, site.serverMetadata({ registration_endpoint: url }));
    expect(await site.discover()).toMatchObject({ client: { id: 'given' } });
  });

  test('even if their metadata are cached', async () => {
    const { issuer, client } = await site.discover();
    allow('mcp.example');
    await expect(site.discover()).rejects.toMatchObject({ missing: { entry: 'login.example' } });
    await expect(site.forIssuer({ issuer, clientId: client.id })).rejects.toMatchObject({
      missing: { entry: 'login.example' },
    });
  });

  test('and sends tokens nowhere else than to endpoints of the server', async () => {
    const { fetch } = await site.discover();
    const request = { method: 'POST', headers: {}, redirect: 'manual', body: undefined } as const;
    site.pages.set('login.example/token', {});
    await expect(fetch(site.url('login.example', '/other'), request)).rejects.toMatchObject({
      name: 'OutboundRefusedError',
    });
    expect((await fetch(site.url('login.example', '/token'), request)).status).toBe(200);
    expect(site.requests).not.toContain('POST login.example/other');
  });
});

test('discovery asks no address that is neither public nor allowed', async () => {
  site.settings = { ...site.settings, outboundAllowedCidrs: [] };
  await expect(site.discover()).rejects.toMatchObject({
    reason: 'upstream-auth-address-not-allowed',
    missing: { setting: 'outboundAllowedCidrs' },
  });
  expect(site.requests).toEqual([]);
});

test.each([
  'http://login.example',
  'ftp://login.example',
  'https://user@login.example',
  '/relative',
  '',
])('discovery does not ask the issuer %j', async (issuer) => {
  site.change(RESOURCE_METADATA, { authorization_servers: [issuer] });
  await expect(site.discover()).rejects.toMatchObject({ name: 'UpstreamAuthError' });
  expect(askedAt('login.example')).toEqual([]);
});

test.each([301, 302, 303, 307, 308])('discovery does not follow a %i', async (code) => {
  site.pages.set(
    RESOURCE_METADATA,
    status(code, { location: site.url('other.example', '/target') }),
  );
  site.pages.set('other.example/target', { resource: site.url('mcp.example', '/tools/mcp') });
  await expect(site.discover()).rejects.toMatchObject({ name: 'UpstreamAuthError' });
  expect(askedAt('other.example')).toEqual([]);
});

test('each call is a line of the log, without what was sent and received', async () => {
  await site.discover({ requestId: 'request-1' });
  allow('mcp.example');
  await expect(site.discover({ requestId: 'request-2' })).rejects.toThrow();
  const { port } = new URL(site.url('mcp.example'));
  const line = (host: string, step: string, outcome: string, request = 'request-1') => ({
    level: 'info',
    message: 'upstream OAuth call',
    fields: {
      host: `${host}:${port}`,
      step,
      outcome,
      'duration-ms': 0,
      route: 'team/tickets',
      'request-id': request,
    },
  });
  expect(site.log).toEqual([
    line('mcp.example', 'challenge', 'status-404'),
    line('mcp.example', 'resource-metadata', 'status-200'),
    line('login.example', 'server-metadata', 'status-200'),
    line('login.example', 'registration', 'status-201'),
    line('mcp.example', 'challenge', 'status-404', 'request-2'),
    line('mcp.example', 'resource-metadata', 'status-200', 'request-2'),
  ]);
});

test('what becomes of discovery is reported', async () => {
  await site.discover();
  site.pages.set(RESOURCE_METADATA, status(404));
  await expect(site.discover()).rejects.toThrow();
  expect(site.reports).toEqual([
    { kind: 'success' },
    {
      kind: 'failure',
      reason: 'upstream-auth-not-found',
      message: `${site.url('mcp.example', RESOURCE_METADATA.slice('mcp.example'.length))} was answered with status 404`,
    },
  ]);
});

test('discovery alone is no success for a client that the server did not register itself', async () => {
  site.oauth = { ...site.oauth, client: { id: 'given' } };
  await site.discover();
  expect(site.reports).toEqual([]);
});
