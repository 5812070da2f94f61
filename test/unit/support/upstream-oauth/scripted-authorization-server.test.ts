import { describe, expect, test } from '@jest/globals';

import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { eventually } from '../../../support/eventually.ts';
import { membersOf, open, send } from '../../../support/http-client.ts';
import {
  startScriptedAuthorizationServer,
  type Script,
} from '../../../support/upstream-oauth/scripted-authorization-server.ts';
import {
  drips,
  failsWith,
  hangs,
  redirects,
  sendsBytes,
  sendsError,
  sendsForm,
  sendsHtml,
  sendsMembers,
} from '../../../support/upstream-oauth/scripts.ts';
import { callMcp, discover, postForm } from '../../../support/signed-in-client.ts';

const opened = disposeAfterEach();
const start = async () => opened(await startScriptedAuthorizationServer());

async function tokenAnswerOf(script: Script) {
  const server = await start();
  server.script('token', script);
  return postForm(`${server.origin}/token`, {});
}

describe('a scripted authorization server', () => {
  test('does everything right as long as no script says otherwise', async () => {
    const server = await start();
    const found = await discover(server.url);
    expect(found).toMatchObject({ resource: server.url, issuer: server.origin });
    const query = new URLSearchParams({ redirect_uri: 'http://localhost/back', state: 'mine' });
    const { headers } = await send(`${found.authorizationEndpoint}?${query.toString()}`);
    const { searchParams } = new URL(headers.location ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({ state: 'mine', iss: server.origin });

    const { access_token: token } = membersOf(await postForm(found.tokenEndpoint, {}));
    expect(server.issued).toEqual([token]);
    expect((await callMcp(server.url, String(token), '{}')).status).toBe(200);
    expect((await callMcp(server.url, 'other', '{}')).status).toBe(401);
    expect(server.requestsTo('token')).toHaveLength(1);
  });

  test.each<[string, Script, object]>([
    ['fails', failsWith(500), { status: 500, body: 'private words of the server' }],
    ['sends a page', sendsHtml, { status: 200, body: '<h1>Welcome</h1>' }],
    ['sends an error as success', sendsError('invalid_grant'), { status: 200 }],
    ['sends a form', sendsForm, { body: expect.stringContaining('expires_in=3600&') }],
    [
      'changes members',
      sendsMembers({ expires_in: '7' }),
      { body: expect.stringContaining('"7"') },
    ],
    ['sends much', sendsBytes(9999), { body: expect.stringContaining('x'.repeat(9999)) }],
    ['redirects', redirects('http://10.0.0.1/'), { headers: { location: 'http://10.0.0.1/' } }],
    ['redirects for ever', redirects(), { headers: { location: expect.stringMatching(/token$/) } }],
  ])('%s', async (_name, script, expected) => {
    expect(await tokenAnswerOf(script)).toMatchObject(expected);
  });

  test('can be silent, or endlessly slow, and right again', async () => {
    const server = await start();
    server.script('metadata', drips);
    server.script('token', hangs);
    const response = await open(`${server.origin}/.well-known/oauth-authorization-server`);
    response.on('error', () => undefined);
    for await (const byte of response) {
      expect(String(byte)).toBe(' ');
      break;
    }
    const hanging = open(`${server.origin}/token`);
    await eventually('the request arrived', () => server.requestsTo('token').length === 1);
    server.script('token', undefined);
    expect(await send(`${server.origin}/token`)).toMatchObject({ status: 200 });
    await server[Symbol.asyncDispose]();
    await expect(hanging).rejects.toThrow();
  });
});
