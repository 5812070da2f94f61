import { expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { membersOf, send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { callMcp } from '../support/signed-in-client.ts';
import { startUpstreamOAuthWorld } from '../support/upstream-oauth/upstream-oauth-world.ts';

const world = openForAll(() => startUpstreamOAuthWorld());

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'whoami', arguments: {} },
};

/** Asks an endpoint of the application's host with a token. */
async function ask(path: string, authorization: string, routes?: readonly string[]) {
  const headers = { authorization, 'content-type': 'application/json' };
  const post = { method: 'POST', body: JSON.stringify({ routes }) };
  const answer = await send(world().app + path, { headers, ...(routes && post) });
  expect(answer.status).toBe(200);
  return membersOf(answer)['servers'];
}

test('An application sees its user connect, calls the server with TE, and disconnects', async () => {
  const { app, application, url, server, visit } = world();
  const browser = new BrowserJar();
  await visit(`${app}/`, 'alice', browser);
  const { message } = await application.request(0);
  const { authorization = '' } = message.headers;
  const token = authorization.replace('Bearer ', '');
  const listed = { name: 'mcp', url, needs_oauth: true };
  const before = await ask('/.gateway/mcp/routes', authorization);
  expect(before).toMatchObject([{ ...listed, connected: false }]);

  const back = await visit(world().connectUrl('/servers'), 'alice', browser);
  expect(back.url).toBe(`${app}/servers`);
  const after = await ask('/.gateway/mcp/routes', authorization);
  expect(after).toMatchObject([{ ...listed, connected: true }]);
  const called = await callMcp(url, token, CALL);
  expect(called.status).toBe(200);
  expect(called.body).toContain('up-alice');
  expect(server.authorizations().length).toBeGreaterThan(0);
  expect(server.authorizations().join()).not.toContain('gte_');

  const none = await ask('/.gateway/mcp/disconnect', authorization, [url]);
  expect(none).toMatchObject([{ ...listed, connected: false }]);
  expect((await callMcp(url, token, CALL)).status).toBe(401);
});
