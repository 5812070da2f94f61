import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  RESOURCE_METADATA,
  SERVER_METADATA,
  startUpstreamSite,
  status,
  type UpstreamSite,
} from '../../../../support/upstream-oauth/upstream-site.ts';

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

describe('authorization servers', () => {
  const TENANT = '/tenant/a';

  test.each([
    `/.well-known/oauth-authorization-server${TENANT}`,
    `/.well-known/openid-configuration${TENANT}`,
    `${TENANT}/.well-known/openid-configuration`,
  ])('with a path have their metadata at %s', async (path) => {
    const issuer = site.url('login.example', TENANT);
    site.change(RESOURCE_METADATA, { authorization_servers: [issuer] });
    site.pages.set(`login.example${path}`, site.serverMetadata({ issuer }));
    expect(await site.discover()).toMatchObject({ issuer });
  });

  test('with a path are asked in the order of the specification', async () => {
    site.change(RESOURCE_METADATA, { authorization_servers: [site.url('login.example', TENANT)] });
    await expect(site.discover()).rejects.toMatchObject({ reason: 'upstream-auth-not-found' });
    expect(site.requests.filter((request) => request.includes(TENANT))).toEqual([
      `GET login.example/.well-known/oauth-authorization-server${TENANT}`,
      `GET login.example/.well-known/openid-configuration${TENANT}`,
      `GET login.example${TENANT}/.well-known/openid-configuration`,
    ]);
  });

  test('may have only a document of OpenID Connect', async () => {
    site.move(SERVER_METADATA, 'login.example/.well-known/openid-configuration');
    expect(await site.discover()).toMatchObject({ issuer: site.url('login.example') });
  });

  test('are tried in the order of the upstream until one is usable', async () => {
    const servers = [site.url('evil.test'), site.url('other.example'), site.url('login.example')];
    site.change(RESOURCE_METADATA, { authorization_servers: servers });
    expect(await site.discover()).toMatchObject({ issuer: site.url('login.example') });
    expect(site.requests.filter((request) => request.includes('evil'))).toEqual([]);
  });

  test.each([
    ['another issuer', { issuer: 'https://evil.test' }, 'issuer-mismatch'],
    ['no issuer', { issuer: undefined }, 'metadata-invalid'],
    ['no PKCE', { code_challenge_methods_supported: undefined }, 'no-pkce'],
    ['PKCE without S256', { code_challenge_methods_supported: ['plain'] }, 'no-pkce'],
    ['PKCE in a text', { code_challenge_methods_supported: 'S256' }, 'no-pkce'],
    ['no authorization endpoint', { authorization_endpoint: undefined }, 'metadata-invalid'],
    [
      'an authorization endpoint on http',
      { authorization_endpoint: 'http://login.example/a' },
      'metadata-invalid',
    ],
    [
      'a script as authorization endpoint',
      { authorization_endpoint: 'javascript:alert(1)' },
      'metadata-invalid',
    ],
    [
      'an authorization endpoint of any length',
      { authorization_endpoint: `https://login.example/${'a'.repeat(2048)}` },
      'metadata-invalid',
    ],
    ['no token endpoint', { token_endpoint: undefined }, 'metadata-invalid'],
    ['a number as token endpoint', { token_endpoint: 1 }, 'metadata-invalid'],
    ['other response types', { response_types_supported: ['token'] }, 'metadata-invalid'],
    ['other grant types', { grant_types_supported: ['implicit'] }, 'metadata-invalid'],
  ])('with %s are not used', async (_title, changes, reason) => {
    site.pages.set(SERVER_METADATA, site.serverMetadata(changes));
    await expect(site.discover()).rejects.toMatchObject({
      reason: `upstream-auth-${reason}`,
      step: 'server-metadata',
    });
    expect(site.registrations).toEqual([]);
  });

  test('of another issuer are refused with both spellings, so that the difference shows', async () => {
    const issuer = site.url('login.example');
    site.pages.set(SERVER_METADATA, site.serverMetadata({ issuer: `${issuer}/other` }));
    await expect(site.discover()).rejects.toThrow(
      `has the metadata of the issuer "${issuer}/other", and ${issuer} was asked`,
    );
  });

  test('that are down are not asked again for two seconds, and then are', async () => {
    site.pages.set(SERVER_METADATA, status(500));
    await expect(site.discover()).rejects.toMatchObject({ isTemporary: true });
    site.pages.set(SERVER_METADATA, site.serverMetadata());
    await expect(site.discover()).rejects.toMatchObject({ isTemporary: true });
    site.now += 2000;
    expect(await site.discover()).toMatchObject({ issuer: site.url('login.example') });
  });

  test('are asked once by connections at the same time, and by new ones after a minute', async () => {
    const asked = (): number =>
      site.requests.filter((line) => line === `GET ${SERVER_METADATA}`).length;
    await Promise.all([site.discover(), site.discover(), site.discover()]);
    expect(asked()).toBe(1);
    expect(site.requests.filter((line) => line === `GET ${RESOURCE_METADATA}`)).toHaveLength(1);
    site.now += 60_000;
    await site.discover();
    expect(asked()).toBe(2);
  });

  test('are known for refreshing while they are down', async () => {
    const { issuer, client } = await site.discover();
    site.pages.set(SERVER_METADATA, status(500));
    site.now += 3600_000;
    const server = await site.forIssuer({ issuer, clientId: client.id });
    expect(server).toMatchObject({ issuer, client: { id: client.id } });
  });
});
