import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  RESOURCE_METADATA,
  SERVER_METADATA,
  startUpstreamSite,
  status,
  type SitePage,
  type UpstreamSite,
} from '../../../../support/upstream-oauth/upstream-site.ts';

const ROOT = 'mcp.example/.well-known/oauth-protected-resource';
const ENDPOINT = 'mcp.example/tools/mcp';

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

function challenge(parameters: string): SitePage {
  return status(401, { 'www-authenticate': `Bearer ${parameters}` });
}

describe('the metadata of an upstream', () => {
  test('are at the well-known path with the path of the endpoint', async () => {
    const { server, resource: found, issuer, isGiven } = await site.discover();
    expect(server).toMatchObject({ token_endpoint: site.url('login.example', '/token') });
    expect({ found, issuer, isGiven }).toEqual({
      found: site.url('mcp.example', '/tools/mcp'),
      issuer: site.url('login.example'),
      isGiven: false,
    });
    expect(site.requests.slice(0, 3)).toEqual([
      `POST ${ENDPOINT}`,
      `GET ${RESOURCE_METADATA}`,
      `GET ${SERVER_METADATA}`,
    ]);
  });

  test('are looked for at the well-known path alone where the other has none', async () => {
    site.move(RESOURCE_METADATA, ROOT);
    expect(await site.discover()).toMatchObject({ issuer: site.url('login.example') });
  });

  test('are taken from the URL of the challenge before the well-known paths', async () => {
    site.move(RESOURCE_METADATA, 'other.example/elsewhere.json');
    const url = site.url('other.example', '/elsewhere.json');
    site.pages.set(ENDPOINT, challenge(`resource_metadata="${url}"`));
    await site.discover();
    expect(site.requests).not.toContain(`GET ${RESOURCE_METADATA}`);
  });

  test('are taken from the challenge that a request got, and none is asked for then', async () => {
    site.move(RESOURCE_METADATA, 'other.example/elsewhere.json');
    await site.discover({
      challenge: { resourceMetadata: site.url('other.example', '/elsewhere.json') },
    });
    expect(site.requests).not.toContain(`POST ${ENDPOINT}`);
  });

  test('are looked for at the well-known paths if those of the challenge cannot be had', async () => {
    const url = site.url('evil.test', '/metadata');
    site.pages.set(ENDPOINT, challenge(`resource_metadata="${url}"`));
    await site.discover();
    expect(site.requests).not.toContain('GET evil.test/metadata');
  });

  test.each([
    ['a beginning of the path', '/tools'],
    ['the origin', ''],
    ['the origin with a slash', '/'],
    ['the endpoint with a slash', '/tools/mcp/'],
  ])('may be about %s, which is sent as it is written', async (_title, path) => {
    const resource = site.url('mcp.example', path);
    site.change(RESOURCE_METADATA, { resource });
    expect((await site.discover()).resource).toBe(resource);
  });

  test.each([
    ['a part of a segment', '/tool'],
    ['another path', '/other/mcp'],
    ['a longer path', '/tools/mcp/more'],
    ['a query', '/tools/mcp?tenant=1'],
    ['a fragment', '/tools/mcp#x'],
  ])('may not be about %s', async (_title, path) => {
    site.change(RESOURCE_METADATA, { resource: site.url('mcp.example', path) });
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-resource-mismatch',
    });
  });

  test('of another server are refused, and neither another place nor the fallback is tried', async () => {
    site.pages.set(ROOT, site.pages.get(RESOURCE_METADATA) ?? {});
    site.change(RESOURCE_METADATA, { resource: site.url('evil.test', '/tools/mcp') });
    site.oauth = { ...site.oauth, fallbackIssuer: site.url('login.example') };
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-resource-mismatch',
      step: 'resource-metadata',
    });
    expect(site.requests).not.toContain(`GET ${ROOT}`);
  });

  test('are quoted in a few words, which a terminal can show', async () => {
    const resource = `${site.url('evil.test')}/\u009b2J${'"'.repeat(2000)}`;
    site.change(RESOURCE_METADATA, { resource });
    const { message } = (await site.discover().catch((error: unknown) => error as Error)) as Error;
    expect(message).toContain('is about "https://evil.test:');
    expect(message).toMatch(/^\P{Cc}{1,1000}$/u);
  });

  test.each<[string, SitePage, string]>([
    ['a page in HTML', (_request, response) => response.end('<html>'), 'metadata-invalid'],
    ['JSON that is no object', ['x'], 'metadata-invalid'],
    [
      'an object without resource',
      { authorization_servers: ['https://x.example'] },
      'metadata-invalid',
    ],
    [
      'an object with a URL of any length',
      {
        resource: `https://mcp.example/${'x'.repeat(2048)}`,
        authorization_servers: ['https://x.example'],
      },
      'metadata-invalid',
    ],
    ['a redirect', status(302, { location: 'https://mcp.example/x' }), 'metadata-invalid'],
    ['nothing', status(404), 'not-found'],
    ['a failure', status(500), 'unavailable'],
    ['a limit', status(429), 'unavailable'],
    [
      'too much',
      (_request, response) => response.end(`{"x":"${'x'.repeat(300_000)}"}`),
      'metadata-invalid',
    ],
  ])('that are %s are not used', async (_title, page, reason) => {
    site.pages.set(RESOURCE_METADATA, page);
    await expect(site.discover()).rejects.toMatchObject({ reason: `upstream-auth-${reason}` });
  });

  test('name no server whose URL has any length', async () => {
    const endless = `${site.url('login.example')}/${'x'.repeat(2048)}`;
    site.change(RESOURCE_METADATA, { authorization_servers: [endless] });
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-metadata-invalid',
      step: 'resource-metadata',
    });
  });

  test.each<[string, SitePage]>([
    ['not there', status(404)],
    ['in HTML', (_request, response) => response.end('<html>')],
    ['failing', status(503)],
  ])('that are %s are replaced by the fallback issuer', async (_title, page) => {
    site.pages.set(RESOURCE_METADATA, page);
    site.oauth = { ...site.oauth, fallbackIssuer: site.url('login.example') };
    expect(await site.discover()).toMatchObject({
      issuer: site.url('login.example'),
      resource: site.url('mcp.example', '/tools/mcp'),
    });
  });
});
